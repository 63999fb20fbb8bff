// What is made of each kind of object; a tree of all others.

const SPOOLED = ["SpooledArtifact", "SpooledJsonArtifact", "SpooledMarkdownArtifact"];
const MOST_ROWS = 200;
const NO_TIME = "1970-01-01T00:00:00";

// What is shown of a value only when somebody looks

function lazily(title, make, kind = "wide") {
  const body = el("div");
  const node = el("details", { class: kind }, el("summary", {}, title), body);
  node.addEventListener("toggle", () => {
    if (node.open && !body.hasChildNodes()) body.append(el("div", {}, make()));
  });
  return node;
}

function brief(text) {
  return el("span", { class: "brief" }, short(text));
}

function chip(text, kind = "") {
  return isSomething(text) ? el("span", { class: `chip ${kind}` }, short(String(text), 80)) : null;
}

function label(text) {
  return el("div", { class: "label" }, text);
}

function time(value) {
  const text = typeof value === "string" ? value : (scalarText(behind(value) ?? {}) ?? "");
  // What had no time got this one from its adapter.
  if (text.startsWith(NO_TIME)) return { text: "", day: "", clock: "" };
  return { text: text.slice(0, 40), day: text.slice(0, 10), clock: text.slice(11, 16) };
}

// Tables that a stash is: {"$type": "Registry", "data": {...}}
function stashOf(value) {
  const data = readable(behind(value)?.data ?? null);
  return isMap(data) && Object.keys(data).length ? data : null;
}

function folds(value, known) {
  const stash = stashOf(value.stash);
  const others = Object.entries(value).filter(([key]) => !known.includes(key) && key !== "$type");
  return [
    stash ? lazily([el("span", { class: "soft" }, "stash"), brief(stash)], () => code(stash), "wide quiet") : null,
    others.length ? lazily([el("span", { class: "soft" }, "more fields"), brief(others.map(([key]) => key).join(", "))], () => treeOf(Object.fromEntries(others)), "wide quiet") : null,
  ];
}

// What happened in a conversation

const CARDS = { Message: message, ToolCall: toolCall, Thought: thought, Retrievable: passage, Memory: memory, Media: mediaCard };
for (const tag of SPOOLED) CARDS[tag] = artifactCard;

function who(value) {
  const identity = behind(value.identity);
  const name = textOf(identity?.representation) || textOf(identity?.identifier) || value.role;
  const id = textOf(identity?.identifier);
  const role = value.role === name || !value.role ? "" : value.role;
  return [el("b", {}, short(String(name ?? ""), 80)), role ? el("span", {}, short(String(role), 40)) : null, id && id !== name ? el("span", {}, short(id, 60)) : null];
}

function message(value, index) {
  const at = time(value.created_at);
  const changed = time(value.updated_at);
  const known = ["id", "role", "content", "attachments", "identity", "created_at", "updated_at", "stash"];
  const edited = changed.text !== at.text ? el("span", { title: changed.text }, "edited") : null;
  const side = value.role === "user" ? "user" : "agent";
  const text = textOf(value.content);
  return el(
    "div",
    { class: `said ${side}` },
    el("div", { class: "who" }, who(value), edited, stamp(at, index)),
    text ? textNode(text) : null,
    listOf(value.attachments).map(cardOf),
    folds(value, known),
  );
}

function stamp(at, index) {
  if (index === undefined) return el("span", { class: "at", title: at.text }, at.clock);
  return el("a", { class: "at address", href: `#${index + 1}`, title: at.text }, `${at.clock} #${index + 1}`.trim());
}

function thought(value, index) {
  const text = textOf(value.content);
  const known = ["id", "content", "identity", "payload", "replay_compatibility", "created_at", "updated_at", "stash"];
  const payload = behind(value.payload);
  const title = [el("b", {}, "thought"), brief(text || "only its vendor can read it"), stamp(time(value.created_at), index)];
  return lazily(title, () => [
    text ? textNode(text) : null,
    isSomething(payload) ? [label(`payload for ${value.replay_compatibility}`), code(readable(payload))] : null,
    folds(value, known),
  ], "thought wide");
}

function toolCall(value, index) {
  const state = value.is_error ? el("span", { class: "failed" }, "failed") : value.is_complete ? null : el("span", { class: "pending" }, "pending");
  const title = [
    el("code", {}, short(String(value.tool), 80)),
    el("span", { class: "brief mono" }, short(readable(value.args))),
    state,
    el("span", { class: "num" }, duration(Date.parse(value.completed_at) - Date.parse(value.created_at) || null)),
    stamp(time(value.created_at), index),
  ];
  const known = ["id", "tool", "args", "is_complete", "is_error", "results", "created_at", "updated_at", "completed_at", "stash", "checksum", "from_artifact_tool", "inline"];
  return lazily(title, () => [
    label("arguments"),
    code(readable(value.args)),
    results(value),
    folds(value, known),
  ], `call wide${value.is_error ? " failed-call" : ""}`);
}

function results(value) {
  const found = behind(value.results);
  if (!isSomething(found)) return label(value.is_complete ? "no result" : "no result yet");
  const many = listOf(found);
  const cards = many.length ? many.map(cardOf) : [tagOf(found) === "Tokenizable" ? code(textOf(found)) : cardOf(found)];
  return [label(many.length > 1 ? "results" : "result"), cards];
}

function passage(value, index) {
  const content = behind(value.content);
  const text = tagOf(content) === "Tokenizable" ? textOf(content) : "";
  const title = [
    el("b", {}, "passage"),
    brief(value.source ?? text),
    chip(value.kind),
    trust(value.trust_tier),
    typeof value.score === "number" ? el("span", { class: "num" }, value.score.toFixed(2)) : null,
    stamp(time(value.created_at), index),
  ];
  const known = ["id", "content", "trust_tier", "source", "kind", "score", "created_at", "updated_at", "stash"];
  return lazily(title, () => [text ? textNode(text) : cardOf(content), folds(value, known)], "passage wide");
}

function memory(value) {
  const known = ["id", "content", "confidence", "importance", "created_at", "updated_at"];
  const figures = [chip(`confidence ${value.confidence}`), chip(`importance ${value.importance}`)];
  return el("div", { class: "card" }, el("div", { class: "chips" }, figures), textNode(textOf(value.content)), folds(value, known));
}

// Whatever it is: a card if there is one, else a tree.
function cardOf(value, index) {
  const found = behind(value);
  const make = Object.hasOwn(CARDS, tagOf(found)) ? CARDS[tagOf(found)] : null;
  if (make) return make(found, index);
  if (index === undefined) return treeOf(value);
  return lazily([el("b", {}, short(headOf(found), 80)), brief(readable(value)), stamp(time(null), index)], () => treeOf(value));
}

// A tree of anything

function treeOf(value) {
  return el("div", { class: "tree" }, branches(value));
}

function partsOf(value) {
  if (Array.isArray(value)) return value.map((item, index) => [`[${index}]`, item]);
  if (!isMap(value) || value.$type === "$reader" || scalarText(value) !== null) return [];
  if (markOf(value) === "$dict") return listOf(value).map((pair) => [`[${keyText(pair?.[0])}]`, pair?.[1]]);
  if (markOf(value)) return listOf(value).map((item, index) => [`[${index}]`, item]);
  return Object.entries(value).filter(([key]) => key !== "$type" && key !== "$v");
}

function headOf(value) {
  if (Array.isArray(value)) return plural(value.length, "item");
  if (!isMap(value)) return "";
  const version = value.$v ? ` v${value.$v}` : "";
  if (tagOf(value)) return `${tagOf(value)}${version}`;
  const mark = markOf(value);
  const { length } = partsOf(value);
  if (mark) return `${mark.slice(1)} of ${plural(length, "item")}`;
  return plural(length, "key");
}

function branches(value) {
  const parts = partsOf(behind(value));
  const rows = (from) => {
    const shown = parts.slice(from, from + MOST_ROWS).map(([key, item]) => branch(key, item));
    const left = parts.length - from - MOST_ROWS;
    if (left <= 0) return shown;
    const rest = button(`${left.toLocaleString("en")} more`, () => rest.replaceWith(...rows(from + MOST_ROWS).flat()));
    return [...shown, rest];
  };
  return parts.length ? rows(0) : branch("", value);
}

function branch(key, value) {
  const number = refOf(value);
  const found = behind(value);
  const name = key === "" ? null : el("span", { class: "key" }, short(key, 80));
  const mark = number === null ? null : el("span", { class: "ref", title: "shared: met more than once" }, `⇢${number}`);
  if (handleOf(found)) return el("div", { class: "leaf" }, name, " ", mark, " ", short(where(handleOf(found)), 300));
  if (!partsOf(found).length) return el("div", { class: "leaf" }, name, " ", mark, " ", leaf(found));
  const head = el("span", { class: "tag" }, short(headOf(found), 80));
  const make = Object.hasOwn(CARDS, tagOf(found)) ? () => [cardOf(found), branches(found)] : () => branches(found);
  return lazily([name, mark, head, brief(summaryOf(found))], make, "");
}

function summaryOf(value) {
  if (Array.isArray(value)) return "";
  const said = partsOf(value).slice(0, 8).map(([key, item]) => [key, behind(item)]);
  const texts = said.map(([key, item]) => [key, typeof item === "object" ? textOf(item) : String(item)]);
  return texts.filter(([, text]) => text).map(([key, text]) => `${key}=${text.slice(0, 60)}`).join("  ");
}

function leaf(value) {
  if (typeof value === "string") return el("span", { class: "string", dir: "auto" }, visible(JSON.stringify(value)));
  if (Array.isArray(value)) return "[]";
  if (isMap(value)) return visible(scalarText(value) ?? (tagOf(value) || "{}"));
  return JSON.stringify(value);
}
