"use strict";
// What every page of ours begins with. Whatever was recorded goes into a page as text,
// never as markup.

const LONG_TEXT = 1500;
const CONTROLS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

const byId = (id) => document.getElementById(id);
const island = () => JSON.parse(byId("data").textContent);

// Making nodes

function el(name, options = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    setOption(node, key, value);
  }
  node.append(...children.flat(Infinity).filter(isSomething));
  return node;
}

function setOption(node, key, value) {
  if (!isSomething(value)) return;
  if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
  else node.setAttribute(key, value);
}

function isSomething(value) {
  return value !== null && value !== undefined && value !== "";
}

function sign(mark, meaning) {
  return el("span", { class: meaning, role: "img", "aria-label": meaning, title: meaning }, mark);
}

function folded(title, content, kind = "wide") {
  return el("details", { class: kind }, el("summary", {}, title), el("div", {}, content));
}

// What reorders a text, or can't be seen in it, is shown as what it is.
function visible(text) {
  const found = document.createDocumentFragment();
  let from = 0;
  for (const { 0: character, index } of text.matchAll(CONTROLS)) {
    found.append(text.slice(from, index), control(character));
    from = index + character.length;
  }
  found.append(text.slice(from));
  return found;
}

// Unicode has pictures of the oldest ones.
function control(character) {
  const point = character.codePointAt(0);
  const name = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  if (point < 0x20) return el("span", { class: "control", title: name }, String.fromCodePoint(0x2400 + point));
  return el("span", { class: "control long" }, name);
}

function textBlock(text) {
  const node = el("p", { dir: "auto" }, visible(text.slice(0, LONG_TEXT)));
  if (text.length <= LONG_TEXT) return node;
  node.append("…");
  const all = () => {
    node.replaceChildren(visible(text));
    more.remove();
  };
  const label = `Show all ${text.length.toLocaleString("en")} characters`;
  const more = button(label, all);
  more.classList.add("more-text");
  return [node, more];
}

function button(text, onclick) {
  return el("button", { class: "plain", type: "button", onclick }, text);
}

function code(value) {
  return el("pre", { dir: "auto", tabindex: "0" }, visible(pretty(value)));
}

// Values as texts

function plural(count, word, words = `${word}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? word : words}`;
}

function duration(ms) {
  if (!isSomething(ms)) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const [seconds, minutes] = [Math.floor(ms / 1000), Math.floor(ms / 60000)];
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${plural(Math.floor(hours / 24), "day")} ${hours % 24} h`;
}

function clock(time) {
  return time ? time.slice(11, 19) : "";
}

function pretty(value) {
  const data = typeof value === "string" ? parsed(value) : value;
  return typeof data === "string" ? data : JSON.stringify(data, null, 2);
}

// Tools often answer with JSON that is a text: it is shown as what it holds.
function parsed(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function short(value, most = 160) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  const begin = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return begin.replace(CONTROLS, "\ufffd");
}

function isEmpty(map) {
  return !map || Object.keys(map).length === 0;
}

function countBy(items, key) {
  const counts = new Map();
  for (const item of items) {
    counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  }
  return counts;
}

// Getting around

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

// Each page says in `keysFor` which keys do what where.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const action = keysFor(event.target)[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
