// The page: its entries, filters and keys.

const ITEMS = ["Message", "ToolCall", "Thought", "Retrievable"];
const KINDS = {
  user: ["user"],
  assistant: ["assistant"],
  thought: ["thought", "thoughts"],
  call: ["tool call", "tool calls"],
  error: ["failed call", "failed calls"],
  passage: ["passage", "passages"],
  other: ["other", "others"],
};
const BLOCK = 100;
const MOST_OPENED = 500;

const state = { entries: [], kinds: new Set(), words: "", current: null, plain: false, last: 0 };

// Entries, and what stands around them

function itemsOf(root) {
  if (tagOf(root) === "Conversation") return listOf(root.items);
  if (ITEMS.includes(tagOf(root))) return [root];
  const many = listOf(root);
  return many.length && many.every((item) => ITEMS.includes(tagOf(behind(item)))) ? many : null;
}

function kindOf(item) {
  switch (tagOf(item)) {
    case "Message": return item.role === "user" ? "user" : "assistant";
    case "ToolCall": return item.is_error ? "error" : "call";
    case "Thought": return "thought";
    case "Retrievable": return "passage";
    default: return "other";
  }
}

function toEntry(item, index) {
  const value = behind(item);
  return { item, value, index, kind: kindOf(value), row: null, text: null };
}

function rowOf(entry) {
  entry.row = el("article", { class: "item", id: String(entry.index + 1), tabindex: "-1" }, cardOf(entry.item, entry.index));
  entry.row.entry = entry;
  return entry.row;
}

function dayLine(entry) {
  const { day } = time(entry.value?.created_at);
  const isNew = day && day !== state.day;
  if (day) state.day = day;
  return isNew ? el("div", { class: "day" }, short(day, 10)) : null;
}

// The first ones at once, so that there is something to read; the others in their turn.
function showItems() {
  const { entries } = state;
  const next = (from) => {
    const until = Math.min(from + BLOCK, entries.length);
    const rows = entries.slice(from, until).flatMap((entry) => [dayLine(entry), rowOf(entry)]);
    byId("items").append(el("section", { class: "block" }, rows));
    state.last = until;
    return until;
  };
  let from = next(0);
  const go = () => {
    const end = performance.now() + 30;
    while (from < entries.length && performance.now() < end) from = next(from);
    if (from < entries.length) setTimeout(go);
    else finished();
  };
  if (from < entries.length) setTimeout(go);
  else finished();
}

function finished() {
  document.body.dataset.ready = "true";
  followAddress();
  if (state.words || state.kinds.size) filterItems();
}

function showAround(root) {
  if (tagOf(root) !== "Conversation") return;
  const instructions = listOf(root.instructions);
  const memories = listOf(root.memories);
  const tools = listOf(behind(root.tools)?.tools);
  const parts = [
    instructions.length ? lazily([el("b", {}, plural(instructions.length, "instruction")), brief(textOf(instructions[0]))], () => instructions.map((text) => textNode(textOf(text)))) : null,
    memories.length ? lazily([el("b", {}, plural(memories.length, "memory", "memories")), brief(textOf(behind(memories[0])?.content))], () => memories.map((one) => cardOf(one))) : null,
    tools.length ? lazily([el("b", {}, plural(tools.length, "tool")), brief(tools.map((tool) => behind(tool)?.name).join(", "))], () => tools.map(toolNode)) : null,
    folds(root, ["id", "items", "instructions", "memories", "tools", "stash"]),
  ];
  byId("around").append(...parts.flat().filter(isSomething));
}

function toolNode(value) {
  const tool = behind(value);
  return lazily([el("code", {}, short(String(tool?.name), 80)), brief(tool?.description ?? "")], () => treeOf(value));
}

function showFacts(root) {
  const { entries } = state;
  const id = tagOf(root) === "Conversation" ? textOf(root.id) : "";
  const says = [
    tagOf(root) || (entries.length ? "" : headOf(root)),
    id ? short(id, 80) : "",
    entries.length ? plural(entries.length, "item") : "",
    plural(doc.handles.length, "handle"),
    [doc.format === "json" ? "JSON" : "MessagePack", ...doc.layers].join(" · "),
    size(doc.bytes),
    doc.served ? "handles open when you ask" : "",
  ];
  byId("facts").append(...says.filter(isSomething).map((fact) => el("span", {}, fact)));
}

// Filters

function showKinds() {
  const counts = countBy(state.entries, (entry) => entry.kind);
  const tiles = Object.keys(KINDS).filter((kind) => counts.has(kind)).map((kind) => kindTile(kind, counts.get(kind)));
  if (tiles.length > 1) byId("kinds").append(...tiles);
}

function kindTile(kind, count) {
  const options = { class: "tile", type: "button", "aria-pressed": "false", "data-kind": kind, onclick: () => toggleKind(kind) };
  return el("button", options, el("b", {}, count.toLocaleString("en")), count === 1 ? KINDS[kind][0] : KINDS[kind].at(-1));
}

function toggleKind(kind) {
  if (!state.kinds.delete(kind)) state.kinds.add(kind);
  for (const tile of document.querySelectorAll(".tile")) {
    tile.setAttribute("aria-pressed", String(state.kinds.has(tile.dataset.kind)));
  }
  filterItems();
}

function searchedText(entry) {
  entry.text ??= JSON.stringify(readable(entry.item) ?? "").toLowerCase();
  return entry.text;
}

function filterItems() {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean).map((word) => JSON.stringify(word).slice(1, -1));
  const { size: chosen } = state.kinds;
  let count = 0;
  for (const entry of state.entries) {
    entry.fits = (!chosen || state.kinds.has(entry.kind)) && words.every((word) => searchedText(entry).includes(word));
    count += entry.fits ? 1 : 0;
    if (entry.row) entry.row.hidden = !entry.fits;
  }
  const isAll = count === state.entries.length;
  for (const line of document.querySelectorAll(".day")) line.hidden = !isAll;
  showCount(isAll ? "" : `${count.toLocaleString("en")} of ${plural(state.entries.length, "item")}`);
  byId("nothing").hidden = count > 0;
  if (state.current && !state.current.fits) mark(null);
  highlight(words);
}

function showCount(text) {
  byId("count").textContent = text;
}

// Marks what was sought where it is seen, without changing the page.
function highlight(words) {
  if (!globalThis.Highlight) return;
  CSS.highlights.delete("found");
  if (!words.length) return;
  const found = new Highlight();
  const shown = state.entries.filter((entry) => entry.fits && entry.row).slice(0, 300);
  for (const { row } of shown) {
    const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && found.size < 5000) markIn(texts.currentNode, words, found);
  }
  CSS.highlights.set("found", found);
}

function markIn(node, words, found) {
  const text = node.data.toLowerCase();
  if (text.length !== node.data.length) return; // Some letters have no small one of one length.
  for (const word of words) {
    for (let at = text.indexOf(word); at >= 0 && found.size < 5000; at = text.indexOf(word, at + word.length)) {
      found.add(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + word.length }));
    }
  }
}

// Getting around

function mark(entry) {
  state.current?.row?.removeAttribute("aria-current");
  state.current = entry;
  if (!entry?.row) return;
  entry.row.setAttribute("aria-current", "true");
  entry.row.focus({ preventScroll: true });
  entry.row.scrollIntoView({ block: "nearest" });
}

function fitting() {
  return state.entries.filter((entry) => entry.fits !== false && entry.row);
}

function step(by) {
  const shown = fitting();
  if (!shown.length) return;
  const at = shown.indexOf(state.current);
  const next = at < 0 ? nearest(shown) : shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
  mark(next);
}

// The first that is seen.
function nearest(shown) {
  return shown.find((entry) => entry.row.getBoundingClientRect().bottom > 80) ?? shown[0];
}

function jump(to) {
  const shown = fitting();
  if (shown.length) mark(shown.at(to));
}

function followAddress() {
  const entry = state.entries[Number(location.hash.slice(1)) - 1];
  if (entry?.row) mark(entry);
}

function setOpen(nodes) {
  const isOpening = nodes.some((node) => !node.open);
  for (const node of nodes.slice(0, MOST_OPENED)) node.open = isOpening;
}

function toggleCurrent() {
  const root = state.current?.row ?? byId("main");
  setOpen([...root.querySelectorAll("details")].filter((node) => !node.parentElement.closest("details")).slice(0, 1));
}

function toggleAll() {
  const rows = fitting().map((entry) => entry.row.firstChild).filter((node) => node.tagName === "DETAILS");
  setOpen([...byId("around").children, ...rows]);
}

function clear() {
  byId("words").value = "";
  state.words = "";
  state.kinds.clear();
  for (const tile of document.querySelectorAll(".tile")) tile.setAttribute("aria-pressed", "false");
  byId("words").blur();
  filterItems();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  Home: () => jump(0),
  End: () => jump(-1),
  o: toggleCurrent,
  O: toggleAll,
  m: toggleMarkdown,
  t: toggleTheme,
  "/": () => byId("words").focus(),
  "?": () => byId("help").showModal(),
  Escape: clear,
};

function keysFor(target) {
  return target === byId("words") ? { Escape: clear } : KEYS;
}

function onWords(event) {
  state.words = event.target.value;
  clearTimeout(state.timer);
  state.timer = setTimeout(filterItems, state.entries.length > 2000 ? 200 : 0);
}

// Paper can't be unfolded.
function unfoldAll() {
  for (const node of [...document.querySelectorAll("main details")].slice(0, MOST_OPENED)) {
    node.open = true;
    node.dispatchEvent(new Event("toggle"));
  }
  for (const more of document.querySelectorAll(".more-text")) more.click();
}

function start() {
  const root = behind(doc.root);
  const items = itemsOf(root);
  state.entries = (items ?? []).map(toEntry);
  showFacts(root);
  if (items) showKinds();
  else byId("tools").hidden = true;
  showAround(root);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", followAddress);
  window.addEventListener("beforeprint", unfoldAll);
  byId("words").addEventListener("input", onWords);
  byId("theme").addEventListener("click", toggleTheme);
  byId("keys").addEventListener("click", KEYS["?"]);
  if (!items) showGraph(doc.root);
  else if (items.length) showItems();
  else showNone();
}

function showNone() {
  byId("nothing").textContent = "Nothing was said.";
  byId("nothing").hidden = false;
  byId("tools").hidden = true;
  document.body.dataset.ready = "true";
}

function showGraph(value) {
  const found = behind(value);
  if (Object.hasOwn(CARDS, tagOf(found))) byId("items").append(cardOf(found));
  const tree = treeOf(value);
  byId("items").append(tree);
  for (const node of [...tree.querySelectorAll("details")].slice(0, 20)) node.open = true;
  document.body.dataset.ready = "true";
}

start();
