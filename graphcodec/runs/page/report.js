"use strict";
// Everything that was recorded goes into the page as text, never as markup.
const run = JSON.parse(document.getElementById("run").textContent);
const examples = Object.values(run.examples);
const STATUSES = ["failed", "aborted", "running", "pending", "passed"];
const state = { statuses: new Set(), words: "", shown: [], current: null };
const byId = (id) => document.getElementById(id);

function el(name, options = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== "") node.append(child);
  }
  return node;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const seconds = (ms) =>
  ms === null || ms === undefined ? "" : ms < 1000 ? `${ms} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
const clock = (time) => (time ? time.slice(11, 19) : "");
const turnsOf = (example) => (example.conversation ? example.conversation.turns : []);
const number = (value) => (typeof value === "number" && isFinite(value) ? value : 0);
const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
const short = (value) => {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
};

function usage(message) {
  const tracing = (message && message.metadata && message.metadata.tracing) || {};
  const tokens = tracing.tokens || {};
  return { input: number(tokens.input), output: number(tokens.output), latency: number(tracing.latency_ms), model: tracing.model };
}

function totals(list) {
  const sum = { input: 0, output: 0, latency: 0, answers: 0, calls: 0, turns: 0 };
  for (const example of list) {
    for (const turn of turnsOf(example)) {
      sum.turns += 1;
      sum.calls += turn.tool_calls.length;
      if (!turn.agent_response) continue;
      const used = usage(turn.agent_response);
      sum.input += used.input;
      sum.output += used.output;
      sum.latency += used.latency;
      if (used.latency) sum.answers += 1;
    }
  }
  return sum;
}

// What the search looks through, made when it is first needed.
function haystack(example) {
  if (example.$text === undefined) {
    const parts = [example.id, example.description, example.status];
    if (example.exception) parts.push(example.exception.message, example.exception.class_name);
    for (const turn of turnsOf(example)) {
      parts.push(turn.topic);
      if (turn.user_message) parts.push(turn.user_message.content);
      if (turn.agent_response) parts.push(turn.agent_response.content);
      for (const call of turn.tool_calls) parts.push(call.name, short(call.arguments));
    }
    for (const verdict of example.evaluations) parts.push(verdict.name);
    Object.defineProperty(example, "$text", { value: parts.join("\n").toLowerCase() });
  }
  return example.$text;
}

// The head

function head() {
  const counts = {};
  for (const example of examples) counts[example.status] = (counts[example.status] || 0) + 1;
  const names = [...STATUSES, ...Object.keys(counts).filter((name) => !STATUSES.includes(name))].filter((name) => counts[name]);
  byId("bar").append(...names.map((name) => {
    const part = el("i", { class: name, title: `${counts[name]} ${name}` });
    part.style.flexGrow = counts[name];
    return part;
  }));
  byId("tiles").append(...names.map((name) =>
    el("button", { class: `tile ${name}`, type: "button", "aria-pressed": "false", "data-status": name, onclick: () => toggle(name) },
      el("b", {}, String(counts[name])), name)));
  const sum = totals(examples);
  const spent = run.finished_at && run.started_at ? Date.parse(run.finished_at) - Date.parse(run.started_at) : null;
  const facts = [
    plural(examples.length, "example"), plural(sum.turns, "turn"), plural(sum.calls, "tool call"),
    sum.input + sum.output ? `${(sum.input + sum.output).toLocaleString("en")} tokens` : "",
    run.started_at ? run.started_at.slice(0, 19).replace("T", " ") : "",
    spent !== null ? seconds(spent) : "not finished",
    run.seed !== null ? `seed ${run.seed}` : "",
    run.git_commit ? `commit ${run.git_commit.slice(0, 10)}` : "", `run ${run.run_id}`,
  ];
  byId("facts").append(...facts.filter(Boolean).map((fact) => el("span", {}, fact)));
  const odd = run.anomalies || [];
  if (odd.length) {
    byId("odd").append(el("details", { class: "wide anomalies" }, el("summary", {}, `${plural(odd.length, "oddity").replace("ys", "ies")} in what was recorded`), el("div", {}, odd.map((text) => el("p", {}, text)))));
  }
}

function toggle(status) {
  if (!state.statuses.delete(status)) state.statuses.add(status);
  for (const tile of document.querySelectorAll(".tile")) tile.setAttribute("aria-pressed", String(state.statuses.has(tile.dataset.status)));
  list();
}

// The list

function row(example) {
  const link = el("a", { href: `#${encodeURIComponent(example.id)}` },
    el("span", { class: `dot ${example.status}`, title: example.status }),
    el("span", { class: "name" }, example.description || example.id),
    el("span", { class: "num" }, seconds(example.duration_ms)),
    el("span", { class: "sub" }, [example.file, plural(turnsOf(example).length, "turn"), example.exception ? example.exception.message : ""].filter(Boolean).join(" · ")));
  const item = el("li", { "data-status": example.status }, link);
  Object.defineProperty(example, "$row", { value: item });
  return item;
}

function list() {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  state.shown = [];
  for (const example of examples) {
    const fits = (!state.statuses.size || state.statuses.has(example.status)) && words.every((word) => haystack(example).includes(word));
    example.$row.hidden = !fits;
    if (fits) state.shown.push(example);
  }
  byId("count").textContent = state.shown.length === examples.length ? plural(examples.length, "example") : `${state.shown.length} of ${plural(examples.length, "example")}`;
}

// One example

function said(kind, message) {
  const used = usage(message);
  const facts = [
    kind, kind === "user" && message.source && message.source !== "unknown" ? message.source : "", clock(message.timestamp),
    used.model || "", used.latency ? seconds(used.latency) : "",
    used.input + used.output ? `${used.input} + ${used.output} tokens` : "",
  ];
  const { tracing, ...others } = message.metadata || {};
  return el("div", { class: `said ${kind}` }, el("div", { class: "who" }, facts.filter(Boolean).map((fact) => el("span", {}, fact))), el("p", {}, message.content), more(others));
}

function folded(title, value) {
  return value === null || value === undefined ? null : [el("div", { class: "soft" }, title), el("pre", {}, pretty(value))];
}

function toolCall(call) {
  const body = el("div", {});
  const node = el("details", { class: "call" }, el("summary", {}, el("code", { class: call.error ? "failed" : "" }, call.name), el("span", { class: "brief mono" }, short(call.arguments)), call.error ? el("span", { class: "failed" }, "error") : null), body);
  // Results may be long: they are made when somebody looks.
  node.addEventListener("toggle", () => {
    if (!node.open || body.childElementCount) return;
    const rest = Object.keys(call.metadata || {}).length ? call.metadata : null;
    body.append(...[folded("arguments", call.arguments), folded("result", call.result), folded("error", call.error), folded("metadata", rest)].flat().filter(Boolean));
  });
  return node;
}

function turnNode(turn) {
  return el("section", { class: "turn" },
    el("div", { class: "turnhead" }, el("span", {}, `turn ${turn.number}`), turn.topic ? el("span", { class: "topic" }, turn.topic) : null),
    turn.user_message ? said("user", turn.user_message) : null,
    turn.tool_calls.map(toolCall),
    turn.agent_response ? said("agent", turn.agent_response) : el("p", { class: "soft" }, "There was no answer."));
}

function verdictNode(verdict) {
  const why = [verdict.description !== verdict.name ? verdict.description : "", verdict.reasoning, verdict.passed ? "" : verdict.failure_message].filter(Boolean);
  const turn = verdict.metadata && verdict.metadata.turn_number;
  return el("div", { class: "verdict" },
    el("span", { class: verdict.passed ? "passed" : "failed", title: verdict.passed ? "passed" : "failed" }, verdict.passed ? "✓" : "✗"),
    el("span", {}, verdict.name, [verdict.mode, verdict.type, turn ? `turn ${turn}` : ""].filter(Boolean).map((chip) => el("span", { class: "chip" }, chip))),
    why.map((text) => el("span", { class: "why" }, text)));
}

function timeline(example) {
  const marks = [];
  let before = Date.parse(example.started_at);
  for (const turn of turnsOf(example)) {
    const steps = [
      turn.user_message && ["user", `turn ${turn.number}`, turn.user_message.timestamp],
      ...turn.tool_calls.map((call) => ["tool", call.name, call.timestamp]),
      turn.agent_response && ["agent", "answer", turn.agent_response.timestamp],
    ];
    for (const step of steps.filter(Boolean)) {
      const at = Date.parse(step[2]);
      if (isNaN(at)) continue;
      marks.push({ kind: step[0], label: step[1], from: Math.min(before, at), to: at });
      before = at;
    }
  }
  const start = Date.parse(example.started_at);
  const end = Math.max(Date.parse(example.finished_at) || 0, ...marks.map((mark) => mark.to));
  if (!marks.length || !(end > start)) return null;
  const node = el("div", { class: "time" });
  for (const mark of marks) {
    const bar = el("i", { class: mark.kind });
    bar.style.left = `${(100 * (mark.from - start)) / (end - start)}%`;
    bar.style.width = `${(100 * (mark.to - mark.from)) / (end - start)}%`;
    node.append(el("span", { class: "label" }, mark.label), el("span", { class: "track" }, bar), el("span", { class: "num" }, seconds(mark.to - mark.from)));
  }
  return [el("h3", {}, "timeline"), node];
}

function failure(example) {
  const found = example.exception;
  const message = example.metadata && example.metadata.message;
  if (!found) return message ? el("div", { class: `note ${example.status}` }, el("p", {}, message)) : null;
  const lines = (example.metadata && example.metadata.backtrace) || found.backtrace;
  return el("div", { class: "note" }, el("p", {}, el("b", {}, found.class_name), found.message ? `: ${found.message}` : ""),
    lines.length ? el("details", { class: "wide" }, el("summary", {}, "where it came from"), el("div", {}, el("pre", {}, lines.join("\n")))) : null);
}

function figures(example) {
  const sum = totals([example]);
  const list = [
    [seconds(example.duration_ms), "duration"], [String(sum.turns), "turns"], [String(sum.calls), "tool calls"],
    sum.input + sum.output ? [`${sum.input.toLocaleString("en")} + ${sum.output.toLocaleString("en")}`, "tokens in + out"] : ["", ""],
    sum.answers ? [seconds(Math.round(sum.latency / sum.answers)), "mean latency"] : ["", ""],
  ];
  return el("div", { class: "figures" }, list.filter(([value]) => value).map(([value, name]) => el("div", { class: "figure" }, el("b", {}, value), el("span", {}, name))));
}

function scenario(example) {
  const found = example.scenario_id && run.scenarios[example.scenario_id];
  if (!found) return null;
  const entries = ["name", "goal", "personality", "context", "verification"].filter((key) => found[key] !== null && found[key] !== undefined && found[key] !== "");
  return [el("h3", {}, "scenario"), el("dl", { class: "grid" }, entries.map((key) => [el("dt", {}, key), el("dd", {}, pretty(found[key]))]))];
}

function more(metadata) {
  return Object.keys(metadata).length ? el("details", { class: "wide more" }, el("summary", {}, "metadata"), el("div", {}, el("pre", {}, pretty(metadata)))) : null;
}

function rest(example) {
  const { message, backtrace, ...others } = example.metadata || {};
  return more(others);
}

function show(example, scroll) {
  if (state.current) state.current.$row.firstChild.removeAttribute("aria-current");
  state.current = example;
  document.body.classList.toggle("open", Boolean(example));
  const place = byId("example");
  place.replaceChildren();
  if (!example) {
    place.append(el("p", { class: "empty" }, examples.length ? "Choose an example." : "Nothing was recorded."));
    return;
  }
  example.$row.firstChild.setAttribute("aria-current", "true");
  if (scroll) example.$row.scrollIntoView({ block: "nearest" });
  const turns = turnsOf(example);
  const parts = [
    el("a", { class: "plain back", href: "#" }, "← all examples"),
    el("h2", {}, example.description || example.id),
    el("div", { class: "soft" }, el("span", { class: `status ${example.status}` }, example.status), ` · ${example.location || example.id}`),
    figures(example), failure(example), scenario(example),
    turns.length ? [el("h3", {}, "conversation"), turns.map(turnNode)] : null,
    example.evaluations.length ? [el("h3", {}, "evaluations"), el("div", {}, example.evaluations.map(verdictNode))] : null,
    timeline(example), rest(example),
  ];
  place.append(...parts.flat(3).filter(Boolean));
  window.scrollTo(0, 0);
}

// Getting around

function follow() {
  let id = "";
  try { id = decodeURIComponent(location.hash.slice(1)); } catch { /* nobody's id */ }
  const found = examples.find((example) => example.id === id) || null;
  if (found !== state.current || !found) show(found, true);
}

function step(by) {
  if (!state.shown.length) return;
  const at = state.shown.indexOf(state.current);
  const next = at < 0 ? (by > 0 ? 0 : state.shown.length - 1) : Math.min(Math.max(at + by, 0), state.shown.length - 1);
  location.hash = encodeURIComponent(state.shown[next].id);
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  "/": () => byId("words").focus(), f: () => toggle("failed"), t: theme, "?": () => byId("help").showModal(),
  o: () => { for (const node of document.querySelectorAll("details.call")) node.open = !node.open; },
  Escape: () => { location.hash = ""; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const typing = event.target === byId("words");
  if (typing && event.key !== "Escape" && event.key !== "ArrowDown") return;
  if (typing) byId("words").blur();
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  if (!(typing && event.key === "Escape")) action();
});
byId("words").addEventListener("input", (event) => { state.words = event.target.value; list(); });
byId("theme").addEventListener("click", theme);
byId("keys").addEventListener("click", () => byId("help").showModal());
window.addEventListener("hashchange", follow);
head();
byId("list").append(...examples.map(row));
list();
follow();
if (!state.current && !matchMedia("(max-width: 760px)").matches) {
  show(examples.find((example) => example.status === "failed" || example.status === "aborted") || examples[0] || null, false);
}
