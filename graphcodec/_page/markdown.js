// Markdown as far as chats have it. It becomes elements made here, never markup of its
// own: no links that can be followed, no pictures.

const LONG_MARKDOWN = 8000;
const LONG_LINE = 4000;
const INLINE =
  /(?<tick>`{1,3})(?<code>[^`]+)\k<tick>|\*\*(?<bold>[^*\n]+)\*\*|(?<![\w*])\*(?<slanted>[^*\s][^*\n]*)\*(?!\w)|~~(?<gone>[^~\n]+)~~|!?\[(?<words>[^\][\n]{0,300})\]\((?<url>[^()\s]{1,2000})\)/g;
const FENCE = /^ {0,3}(```+|~~~+)[ \t]*([\w+#.-]{0,30})/;
const HEADING = /^#{1,6}[ \t]+(.*)/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ENTRY = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)/;
const COLUMNS = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

// A text, shown anew when its reader wants it as it is, or rendered again.
function textNode(text) {
  const box = el("div", { class: "text", dir: "auto" });
  const show = () => box.replaceChildren(...[state.plain ? textBlock(text) : markdown(text)].flat());
  box.redo = show;
  show();
  return box;
}

function toggleMarkdown() {
  state.plain = !state.plain;
  for (const node of document.querySelectorAll(".text")) node.redo?.();
}

function markdown(text) {
  if (text.length <= LONG_MARKDOWN) return blocks(text.split("\n"));
  const end = text.lastIndexOf("\n", LONG_MARKDOWN);
  const begin = text.slice(0, end > LONG_MARKDOWN / 2 ? end : LONG_MARKDOWN);
  const label = `Show all ${text.length.toLocaleString("en")} characters`;
  const more = button(label, () => more.parentElement.replaceChildren(...blocks(text.split("\n"))));
  more.classList.add("more-text");
  return [...blocks(begin.split("\n")), more];
}

function blocks(lines) {
  const made = [];
  for (let at = 0; at < lines.length; ) {
    const [node, next] = block(lines, at);
    if (node) made.push(node);
    at = next;
  }
  return made;
}

// A block that begins at a line, and the line behind it.
function block(lines, at) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, at, fence[1]);
  const heading = HEADING.exec(line);
  if (heading) return [el("h4", {}, inline(heading[1])), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (QUOTE.test(line)) return quoted(lines, at);
  if (ENTRY.test(line)) return listed(lines, at);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at);
}

function endOf(lines, at, fits) {
  let end = at;
  while (end < lines.length && fits(lines[end], end)) end += 1;
  return end;
}

function fenced(lines, at, mark) {
  const end = endOf(lines, at + 1, (line) => !line.trim().startsWith(mark));
  return [el("pre", { dir: "auto", tabindex: "0" }, visible(lines.slice(at + 1, end).join("\n"))), end + 1];
}

function quoted(lines, at) {
  const end = endOf(lines, at, (line) => QUOTE.test(line));
  const text = lines.slice(at, end).map((line) => line.replace(QUOTE, "")).join("\n");
  return [el("blockquote", {}, el("p", { dir: "auto" }, inlineLines(text))), end];
}

function listed(lines, at) {
  const end = endOf(lines, at, (line) => ENTRY.test(line) || (/^\s+\S/.test(line) && !FENCE.test(line)));
  const list = el("ul");
  for (const line of lines.slice(at, end)) {
    const entry = ENTRY.exec(line);
    if (entry) list.append(entryNode(entry));
    else list.lastChild.append("\n", inline(line.trim()));
  }
  return [list, end];
}

function entryNode([, indent, mark, text]) {
  const node = el("li", { dir: "auto", "data-mark": /\d/.test(mark) ? mark : "•" }, inline(text));
  node.style.marginInlineStart = `${Math.min(indent.length, 16) * 9}px`;
  return node;
}

function isTable(lines, at) {
  return lines[at].includes("|") && COLUMNS.test(lines[at + 1] ?? "") && lines[at + 1].includes("-");
}

function table(lines, at) {
  const end = endOf(lines, at + 2, (line) => line.includes("|"));
  const row = (line, name) => {
    const cells = line.trim().replace(/^\||\|$/g, "").split("|");
    return el("tr", {}, cells.map((cell) => el(name, { dir: "auto" }, inline(cell.trim()))));
  };
  const rows = lines.slice(at + 2, end).map((line) => row(line, "td"));
  return [el("div", { class: "scroll", tabindex: "0" }, el("table", {}, row(lines[at], "th"), rows)), end];
}

function paragraph(lines, at) {
  const isStart = (line, index) => FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ENTRY.test(line) || isTable(lines, index);
  const end = endOf(lines, at + 1, (line, index) => line.trim() && !isStart(line, index));
  return [el("p", { dir: "auto" }, inlineLines(lines.slice(at, end).join("\n"))), end];
}

function inlineLines(text) {
  return text.split("\n").flatMap((line, index) => (index ? ["\n", inline(line)] : [inline(line)]));
}

function inline(line) {
  if (line.length > LONG_LINE) return visible(line);
  const made = document.createDocumentFragment();
  let from = 0;
  for (const found of line.matchAll(INLINE)) {
    made.append(visible(line.slice(from, found.index)), marked(found.groups));
    from = found.index + found[0].length;
  }
  made.append(visible(line.slice(from)));
  return made;
}

function marked({ code: codeText, bold, slanted, gone, words, url }) {
  if (codeText !== undefined) return el("code", {}, visible(codeText));
  if (bold !== undefined) return el("strong", {}, visible(bold));
  if (slanted !== undefined) return el("em", {}, visible(slanted));
  if (gone !== undefined) return el("del", {}, visible(gone));
  // Where a link leads is read, not followed.
  return el("span", {}, visible(words), " ", el("span", { class: "url" }, "(", visible(url), ")"));
}
