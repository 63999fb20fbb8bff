const STATUSES = ["failed", "aborted", "running", "pending", "passed"];
const MANY_CALLS = 6;
const MANY_STEPS = 30;
const SEARCHED = 2000;

const run = island();
const groups = new Map(Object.entries(run.groups ?? {}));
const entries = inGroups(Object.values(run.examples).map(toEntry));
const headings = [];
const state = { statuses: new Set(), words: "", shown: entries, current: null, plain: false };

// An example, where it stands in the list, and what leads to it.
function toEntry(example, index) {
  return { example, address: addressOf(example.id, index), row: null, text: null };
}

function addressOf(id, index) {
  try {
    return encodeURIComponent(id);
  } catch {
    return `example-${index}`; // Half a character has no address.
  }
}

// The files and classes in which examples stand

function groupOf({ example }) {
  const id = example.metadata?.group;
  return groups.has(id) ? id : "";
}

// Each group's own examples together, the groups as they began.
function inGroups(entries) {
  const places = new Map(["", ...groups.keys()].map((id, place) => [id, place]));
  return [...entries].sort((a, b) => places.get(groupOf(a)) - places.get(groupOf(b)));
}

function pathOf(id) {
  const names = [];
  const seen = new Set();
  for (let at = id; groups.has(at) && !seen.has(at); at = groups.get(at).parent_id) {
    seen.add(at);
    names.unshift(groups.get(at).description || at);
  }
  return names.join(" › ");
}

// What a run says in numbers

function turnsOf(example) {
  return example.conversation ? example.conversation.turns : [];
}

function finite(value) {
  return Number.isFinite(value) ? value : 0;
}

function usage(message) {
  const tracing = message?.metadata?.tracing ?? {};
  return {
    input: finite(tracing.tokens?.input),
    output: finite(tracing.tokens?.output),
    latency: finite(tracing.latency_ms),
    model: typeof tracing.model === "string" ? tracing.model : "",
  };
}

function totals(examples) {
  const sum = { input: 0, output: 0, latency: 0, answers: 0, calls: 0, turns: 0 };
  for (const turn of examples.flatMap(turnsOf)) {
    const used = usage(turn.agent_response);
    sum.turns += 1;
    sum.calls += turn.tool_calls.length;
    sum.input += used.input;
    sum.output += used.output;
    sum.latency += used.latency;
    sum.answers += used.latency ? 1 : 0;
  }
  return sum;
}

function inAndOut({ input, output }) {
  return `${input.toLocaleString("en")} + ${output.toLocaleString("en")}`;
}

// The head

function showHead() {
  const examples = entries.map((entry) => entry.example);
  const counts = countBy(examples, (example) => example.status);
  const known = STATUSES.filter((status) => counts.has(status));
  const others = [...counts.keys()].filter((status) => !STATUSES.includes(status));
  const statuses = [...known, ...others];
  byId("bar").append(...statuses.map((status) => barPart(status, counts.get(status))));
  byId("tiles").append(...statuses.map((status) => tile(status, counts.get(status))));
  byId("facts").append(...facts(examples).filter(Boolean).map((fact) => el("span", {}, fact)));
  byId("tags").append(...(run.tags ?? []).map((tag) => el("span", { class: "topic", dir: "auto" }, visible(tag))));
  showEnvironment(run.environment ?? {});
  showOddities(run.anomalies ?? []);
}

function showEnvironment(environment) {
  if (isEmpty(environment)) return;
  const lines = el("dl", { class: "grid" }, environmentLines(environment));
  const title = ["environment", inShort(environment)].filter(isSomething).join(": ");
  byId("odd").append(folded(visible(short(title)), lines, "wide anomalies"));
}

function inShort({ python, platform }) {
  return [isSomething(python) ? `python ${python}` : "", platform].filter(isSomething).join(", ");
}

function environmentLines(environment) {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return environmentLines(value);
    const shown = value === null ? "not installed" : visible(pretty(value));
    return [el("dt", { dir: "auto" }, visible(name)), el("dd", { dir: "auto" }, shown)];
  });
}

function barPart(status, count) {
  const part = el("i", { class: status, title: `${count} ${status}` });
  part.style.flexGrow = count;
  return part;
}

function tile(status, count) {
  const options = {
    class: `tile ${status}`,
    type: "button",
    "aria-pressed": "false",
    "data-status": status,
    onclick: () => toggleStatus(status),
  };
  return el("button", options, el("b", {}, String(count)), status);
}

function facts(examples) {
  const sum = totals(examples);
  const tokens = sum.input + sum.output;
  return [
    plural(examples.length, "example"),
    plural(sum.turns, "turn"),
    plural(sum.calls, "tool call"),
    tokens ? `${tokens.toLocaleString("en")} tokens` : "",
    run.started_at ? run.started_at.slice(0, 19).replace("T", " ") : "",
    spent(),
    isSomething(run.seed) ? `seed ${run.seed}` : "",
    run.git_commit ? `commit ${run.git_commit.slice(0, 10)}` : "",
    `run ${run.run_id}`,
    run.parent_run_id ? `part of ${run.parent_run_id}` : "",
  ];
}

function spent() {
  const planned = run.suite?.example_count;
  if (!run.finished_at) return planned ? `not finished, of ${plural(planned, "example")} planned` : "not finished";
  return run.started_at ? duration(Date.parse(run.finished_at) - Date.parse(run.started_at)) : "";
}

function showOddities(oddities) {
  if (!oddities.length) return;
  const title = `${plural(oddities.length, "oddity", "oddities")} in what was recorded`;
  const lines = oddities.map((text) => el("p", { dir: "auto" }, text));
  byId("odd").append(folded(title, lines, "wide anomalies"));
}

// The list

function showList() {
  const ids = new Set(entries.map(groupOf));
  for (const id of ids) {
    const members = entries.filter((entry) => groupOf(entry) === id);
    if (ids.size > 1) byId("list").append(headingOf(id, members));
    byId("list").append(...members.map(rowOf));
  }
  filterList();
}

function headingOf(id, members) {
  const counts = countBy(members, ({ example }) => example.status);
  const bad = STATUSES.slice(0, 2).filter((status) => counts.has(status));
  const node = el(
    "li",
    { class: "group" },
    el("h3", { dir: "auto" }, visible(pathOf(id) || "others")),
    bad.map((status) => el("span", { class: status }, `${counts.get(status)} ${status}`)),
    el("span", { class: "num", title: plural(members.length, "example") }, `${bad.length ? "of " : ""}${members.length}`),
  );
  headings.push({ node, members });
  return node;
}

function rowOf(entry) {
  const { example, address } = entry;
  const says = [example.file, plural(turnsOf(example).length, "turn"), example.exception?.message ?? example.metadata?.message];
  const link = el(
    "a",
    { href: `#${address}` },
    el("span", { class: `dot ${example.status}`, role: "img", "aria-label": example.status, title: example.status }),
    el("span", { class: "name", dir: "auto" }, example.description || example.id),
    el("span", { class: "num" }, duration(example.duration_ms)),
    el("span", { class: "sub", dir: "auto" }, short(says.filter(isSomething).join(" · "), 300)),
  );
  entry.row = el("li", {}, link);
  return entry.row;
}

function filterList() {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  state.shown = entries.filter((entry) => fits(entry, words));
  const shown = new Set(state.shown);
  for (const entry of entries) {
    entry.row.hidden = !shown.has(entry);
  }
  for (const { node, members } of headings) {
    node.hidden = !members.some((entry) => shown.has(entry));
  }
  const all = plural(entries.length, "example");
  byId("count").textContent = shown.size === entries.length ? all : `${shown.size} of ${all}`;
}

function fits(entry, words) {
  const { size } = state.statuses;
  if (size && !state.statuses.has(entry.example.status)) return false;
  return words.every((word) => searchedText(entry).includes(word));
}

// Made when it is first needed.
function searchedText(entry) {
  entry.text ??= searchedParts(entry.example).filter(isSomething).join("\n").toLowerCase();
  return entry.text;
}

function searchedParts(example) {
  return [
    example.id,
    example.description,
    example.status,
    example.metadata?.group,
    example.exception?.class_name,
    example.exception?.message,
    ...turnsOf(example).flatMap(searchedTurn),
    ...example.evaluations.flatMap((verdict) => [verdict.name, verdict.reasoning]),
  ];
}

function searchedTurn(turn) {
  return [
    turn.topic,
    turn.user_message?.content,
    turn.agent_response?.content,
    ...turn.tool_calls.flatMap((call) => [
      call.name,
      short(call.arguments, SEARCHED),
      short(call.result, SEARCHED),
      call.error,
    ]),
  ];
}

function toggleStatus(status) {
  if (!state.statuses.delete(status)) state.statuses.add(status);
  for (const tile of document.querySelectorAll(".tile")) {
    tile.setAttribute("aria-pressed", String(state.statuses.has(tile.dataset.status)));
  }
  filterList();
}

// What was said

function conversationOf(example) {
  const turns = turnsOf(example);
  if (!turns.length) return null;
  return [el("h3", {}, "conversation"), turns.map(turnNode)];
}

function turnNode(turn) {
  const number = el("span", {}, `turn ${turn.number}`);
  const topic = turn.topic ? el("span", { class: "topic", dir: "auto" }, turn.topic) : null;
  return el(
    "section",
    { class: "turn", "aria-label": `turn ${turn.number}` },
    el("div", { class: "turnhead" }, number, topic),
    turn.user_message ? said("user", turn.user_message) : null,
    toolCalls(turn.tool_calls),
    turn.agent_response ? said("agent", turn.agent_response) : el("p", { class: "soft" }, "There was no answer."),
  );
}

function said(kind, message) {
  const { tracing, ...others } = message.metadata ?? {};
  const who = whoFacts(kind, message).map((fact) => el("span", {}, fact));
  const rest = isEmpty(others) ? null : folded("metadata", code(others), "wide more");
  return el("div", { class: `said ${kind}` }, el("div", { class: "who" }, who), textNode(message.content), rest);
}

function whoFacts(kind, message) {
  const used = usage(message);
  const source = message.source === "unknown" ? "" : message.source;
  return [
    kind,
    source,
    clock(message.timestamp),
    used.model,
    used.latency ? duration(used.latency) : "",
    used.input + used.output ? `${inAndOut(used)} tokens` : "",
  ].filter(isSomething);
}

function toolCalls(calls) {
  const nodes = calls.map(toolCall);
  if (calls.length <= MANY_CALLS) return nodes;
  const names = [...countBy(calls, (call) => call.name)].map(([name, count]) => `${name}: ${count}`);
  const failed = calls.filter((call) => call.error).length;
  const title = [
    el("b", {}, plural(calls.length, "tool call")),
    el("span", { class: "brief" }, short(names.join(", "))),
    failed ? el("span", { class: "failed" }, plural(failed, "error")) : "",
  ];
  return folded(title, nodes, "calls");
}

// Results may be long: they are made when somebody looks.
function toolCall(call) {
  const body = el("div");
  const title = el(
    "summary",
    {},
    el("code", { class: call.error ? "failed" : "" }, call.name),
    el("span", { class: "brief mono" }, short(call.arguments)),
    call.error ? el("span", { class: "failed" }, "error") : "",
  );
  const node = el("details", { class: "call" }, title, body);
  node.addEventListener("toggle", () => {
    if (node.open && !body.hasChildNodes()) body.append(...callParts(call));
  });
  return node;
}

function callParts(call) {
  const metadata = isEmpty(call.metadata) ? null : call.metadata;
  const parts = [
    ["arguments", call.arguments],
    ["result", call.result],
    ["error", call.error],
    ["metadata", metadata],
  ];
  return parts
    .filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([title, value]) => [el("div", { class: "soft" }, title), code(value)]);
}

// How it was judged

function evaluationsOf(example) {
  if (!example.evaluations.length) return null;
  return [el("h3", {}, "evaluations"), el("div", {}, example.evaluations.map(verdictNode))];
}

function verdictNode(verdict) {
  const turn = verdict.metadata?.turn_number;
  const chips = [verdict.mode, verdict.type, turn ? `turn ${turn}` : ""].filter(isSomething);
  const why = [
    verdict.description === verdict.name ? "" : verdict.description,
    verdict.reasoning,
    verdict.passed ? "" : verdict.failure_message,
  ];
  return el(
    "div",
    { class: "verdict" },
    verdict.passed ? sign("✓", "passed") : sign("✗", "failed"),
    el("span", { dir: "auto" }, verdict.name, chips.map((chip) => el("span", { class: "chip" }, chip))),
    why.filter(isSomething).map((text) => el("span", { class: "why", dir: "auto" }, text)),
  );
}

// When it happened

function timelineOf(example) {
  const steps = stepsOf(example);
  const start = Date.parse(example.started_at);
  const end = Math.max(Date.parse(example.finished_at) || 0, ...steps.map((step) => step.to));
  if (!steps.length || !(end > start)) return null;
  const lines = el("div", { class: "time" }, steps.map((step) => stepLine(step, start, end - start)));
  const content = steps.length > MANY_STEPS ? folded(plural(steps.length, "step"), lines) : lines;
  return [el("h3", {}, "timeline"), content];
}

// What happens takes the time since what happened before it.
function stepsOf(example) {
  let before = Date.parse(example.started_at);
  const steps = [];
  for (const [kind, label, time] of turnsOf(example).flatMap(momentsOf)) {
    const at = Date.parse(time);
    if (Number.isNaN(at)) continue;
    steps.push({ kind, label, from: Math.min(before, at), to: at });
    before = at;
  }
  return steps;
}

function momentsOf(turn) {
  const calls = turn.tool_calls.map((call) => ["tool", call.name, call.timestamp]);
  const user = turn.user_message;
  const agent = turn.agent_response;
  return [
    ...(user ? [["user", `turn ${turn.number}`, user.timestamp]] : []),
    ...calls,
    ...(agent ? [["agent", "answer", agent.timestamp]] : []),
  ];
}

function stepLine(step, start, whole) {
  const bar = el("i", { class: step.kind });
  bar.style.left = `${(100 * (step.from - start)) / whole}%`;
  bar.style.width = `${(100 * (step.to - step.from)) / whole}%`;
  return [
    el("span", { class: "label", title: step.label }, step.label),
    el("span", { class: "track" }, bar),
    el("span", { class: "num" }, duration(step.to - step.from)),
  ];
}

// What else there is to say of an example

function failureOf(example) {
  const failure = example.exception;
  const message = example.metadata?.message;
  if (failure) return failureNode(failure, example.metadata?.backtrace ?? failure.backtrace);
  return message ? el("div", { class: `note ${example.status}` }, textBlock(String(message))) : null;
}

function failureNode(failure, backtrace) {
  const message = failure.message ? `${failure.class_name}: ${failure.message}` : failure.class_name;
  const lines = backtrace.length ? folded("where it came from", code(backtrace.join("\n"))) : null;
  return el("div", { class: "note" }, textBlock(message), lines);
}

function figuresOf(example) {
  const sum = totals([example]);
  const figures = [
    [duration(example.duration_ms), "duration"],
    [String(sum.turns), "turns"],
    [String(sum.calls), "tool calls"],
    [sum.input + sum.output ? inAndOut(sum) : "", "tokens in + out"],
    [sum.answers ? duration(sum.latency / sum.answers) : "", "mean latency"],
  ];
  const nodes = figures
    .filter(([value]) => value)
    .map(([value, name]) => el("div", { class: "figure" }, el("b", {}, value), el("span", {}, name)));
  return el("div", { class: "figures" }, nodes);
}

function scenarioOf(example) {
  const scenario = run.scenarios[example.scenario_id];
  if (!scenario) return null;
  const lines = ["name", "goal", "personality", "context", "verification"]
    .filter((key) => isSomething(scenario[key]))
    .map((key) => [el("dt", {}, key), el("dd", { dir: "auto" }, pretty(scenario[key]))]);
  return [el("h3", {}, "scenario"), el("dl", { class: "grid" }, lines)];
}

function metadataOf(example) {
  const { message, backtrace, group, ...others } = example.metadata ?? {};
  return isEmpty(others) ? null : folded("metadata", code(others), "wide more");
}

// One example

function show(entry) {
  state.current?.row.firstChild.removeAttribute("aria-current");
  state.current = entry;
  document.body.classList.toggle("open", Boolean(entry));
  byId("example").replaceChildren(...(entry ? exampleParts(entry.example) : nothingChosen()));
  if (!entry) return;
  entry.row.firstChild.setAttribute("aria-current", "true");
  entry.row.scrollIntoView({ block: "nearest" });
  window.scrollTo(0, 0);
}

function nothingChosen() {
  return [el("p", { class: "empty" }, entries.length ? "Choose an example." : "Nothing was recorded.")];
}

function exampleParts(example) {
  const status = el("span", { class: `status ${example.status}` }, example.status);
  const parts = [
    el("a", { class: "plain back", href: "#" }, "← all examples"),
    el("h2", { dir: "auto" }, example.description || example.id),
    el("div", { class: "soft where" }, status, ` · ${example.location || example.id}`),
    figuresOf(example),
    failureOf(example),
    scenarioOf(example),
    conversationOf(example),
    evaluationsOf(example),
    timelineOf(example),
    metadataOf(example),
  ];
  return parts.flat(Infinity).filter(isSomething);
}

// Getting around

function followAddress() {
  const address = location.hash.slice(1);
  const found = entries.find((entry) => [entry.address, entry.example.id].includes(address));
  if (!found || found !== state.current) show(found ?? null);
}

function step(by) {
  const last = state.shown.length - 1;
  if (last < 0) return;
  const at = state.shown.indexOf(state.current);
  const start = by > 0 ? 0 : last;
  const next = at < 0 ? start : Math.min(Math.max(at + by, 0), last);
  location.hash = state.shown[next].address;
  show(state.shown[next]); // At once: the next key may come before the address has changed.
}

function toggleCalls() {
  const calls = [...document.querySelectorAll("details.call, details.calls")];
  const isOpening = calls.some((node) => !node.open);
  for (const node of calls) {
    node.open = isOpening;
  }
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  f: () => toggleStatus("failed"),
  o: toggleCalls,
  m: toggleMarkdown,
  t: toggleTheme,
  "/": () => byId("words").focus(),
  "?": () => byId("help").showModal(),
  Escape: () => { location.hash = ""; },
};
// Elsewhere the arrows scroll.
const LIST_KEYS = { ArrowDown: KEYS.j, ArrowUp: KEYS.k };
const SEARCH_KEYS = { ...LIST_KEYS, Escape: () => byId("words").blur() };

function keysFor(target) {
  if (target === byId("words")) return SEARCH_KEYS;
  return byId("list").contains(target) ? { ...KEYS, ...LIST_KEYS } : KEYS;
}

function onWords(event) {
  state.words = event.target.value;
  filterList();
}

// Paper can't be unfolded.
function unfoldAll() {
  for (const button of document.querySelectorAll(".more-text")) {
    button.click();
  }
  for (const node of document.querySelectorAll("article details")) {
    node.open = true;
    node.dispatchEvent(new Event("toggle"));
  }
}

function start() {
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", followAddress);
  window.addEventListener("beforeprint", unfoldAll);
  byId("words").addEventListener("input", onWords);
  byId("theme").addEventListener("click", toggleTheme);
  byId("keys").addEventListener("click", KEYS["?"]);
  showHead();
  showList();
  followAddress();
  if (!state.current && !matchMedia("(max-width: 760px)").matches) showFirst();
}

function showFirst() {
  const isBad = ({ example }) => example.status === "failed" || example.status === "aborted";
  show(entries.find(isBad) ?? entries[0] ?? null);
}

start();
