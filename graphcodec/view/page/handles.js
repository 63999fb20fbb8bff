// Handles: where they lead, what they hold, and how to have it.

const PART = 1 << 16;
const SILENT = "the server does not answer; it may have been stopped";

function handleOf(value) {
  const found = behind(value);
  return isMap(found) && found.$type === "$reader" ? doc.handles[found.handle] : null;
}

function mediaCard(media) {
  const handle = handleOf(media.reader);
  const chips = [chip(media.kind), chip(media.mime_type), trust(media.trust_tier), hazard(media.modality_hazard)];
  const name = media.filename ?? media.source ?? media.id ?? "media";
  const known = ["id", "kind", "mime_type", "filename", "reader", "trust_tier", "modality_hazard", "source", "stash"];
  return el(
    "div",
    { class: "card media" },
    el("div", { class: "row" }, el("span", { class: "name" }, short(String(name), 200)), el("span", { class: "chips" }, chips)),
    typeof media.source === "string" && media.source !== name ? el("div", { class: "where" }, `from ${short(media.source, 300)}`) : null,
    handleParts(handle, behind(media.reader), media.mime_type),
    folds(media, known),
  );
}

function trust(tier) {
  return chip(tier, tier === "first-party" ? "" : "warn");
}

function hazard(value) {
  return isSomething(value) && value !== "inert" ? chip(value, "warn") : null;
}

function artifactCard(artifact) {
  const handle = handleOf(artifact.reader);
  const title = tagOf(artifact).replace(/^Spooled|Artifact$/g, "").toLowerCase();
  const row = el("div", { class: "row" }, el("span", { class: "name" }, "artifact"), chip(title));
  return el("div", { class: "card artifact" }, row, handleParts(handle, behind(artifact.reader)), folds(artifact, ["reader"]));
}

// Where a handle leads, what it holds if that is in the page, and how to have it.
function handleParts(handle, reader) {
  if (!handle) return el("div", { class: "fault" }, "there is no handle");
  const place = [handle.size === undefined ? "" : size(handle.size), where(handle)].filter(Boolean).join(" · ");
  const content = el("div");
  const acts = el("div", { class: "acts" });
  const source = { handle, number: reader.handle, content, acts };
  if (handle.data !== undefined) embedded(source);
  else if (handle.fault) content.append(el("p", { class: "fault" }, visible(handle.fault)));
  else if (doc.served) offer(source);
  return [el("div", { class: "where" }, place), content, acts];
}

function embedded(source) {
  const { handle, content, acts } = source;
  if (handle.as === "text") showText(source, bytesOf(handle.data), Boolean(handle.cut));
  else if (handle.as !== "file") content.append(player(source, `data:${handle.mime};base64,${handle.data}`));
  if (handle.as !== "image") acts.append(button("Save", () => save(handle)));
}

function offer(source) {
  const address = `handle/${source.number}`;
  const { handle, acts } = source;
  const open = () => {
    acts.replaceChildren(waiting());
    source.content.replaceChildren();
    if (handle.as === "text") more(source, address, 0, new TextDecoder());
    else source.content.replaceChildren(player(source, address));
  };
  source.again = () => acts.replaceChildren(button("Try again", open));
  if (handle.as === "file") acts.append(el("a", { class: "plain", href: address, download: "download" }, "Save"));
  else acts.append(button("Open", open));
}

// A handle may be far away.
function waiting() {
  return el("span", { class: "soft waiting", role: "status" }, "opening …");
}

function player({ handle, number, content, acts, again }, address) {
  const failed = async () => {
    content.replaceChildren(el("p", { class: "fault" }, visible(await reason(number))));
    again?.();
  };
  const opened = () => acts.querySelector(".waiting")?.remove();
  const options = { src: address, onerror: failed, onload: opened, onloadedmetadata: opened, class: "shown" };
  if (handle.as === "image") return el("img", { ...options, alt: handle.name || "image", loading: "lazy" });
  return el(handle.as === "audio" ? "audio" : "video", { ...options, controls: "controls", preload: "metadata" });
}

// Why a browser shows nothing: the server knows, if there is one.
async function reason(number) {
  const unknown = "this is nothing that a browser can show";
  if (!doc.served) return unknown;
  const answer = await ask(`handle/${number}`, 0, 1);
  if (!answer) return SILENT;
  return answer.ok || answer.status === 416 ? unknown : await answer.text();
}

// Nothing if the server does not answer, or not to the end.
async function ask(address, start, count) {
  try {
    const answer = await fetch(address, { headers: { Range: `bytes=${start}-${start + count - 1}` } });
    return new Response(await answer.arrayBuffer(), answer);
  } catch {
    return null;
  }
}

async function more(source, address, start, decoder) {
  const { content, acts } = source;
  acts.replaceChildren(waiting());
  const answer = await ask(address, start, PART);
  if (!answer || (answer.status !== 416 && !answer.ok)) {
    const why = answer ? await answer.text() : SILENT;
    content.append(el("p", { class: "fault" }, visible(why)));
    return source.again();
  }
  acts.replaceChildren();
  if (answer.status === 416) return showPart(source, decoder.decode());
  const data = new Uint8Array(await answer.arrayBuffer());
  const whole = Number(answer.headers.get("Content-Range")?.split("/")[1]);
  const end = start + data.length;
  const isLast = data.length < PART || end === whole;
  showPart(source, decoder.decode(data, { stream: !isLast }));
  if (isLast) return;
  const of = whole ? ` of ${size(whole)}` : "";
  acts.append(button(`More (${size(end)}${of} shown)`, () => more(source, address, end, decoder)));
}

function showPart({ content }, text) {
  const last = content.querySelector("pre");
  if (last) last.append(visible(text));
  else content.append(el("pre", { dir: "auto", tabindex: "0" }, visible(text)));
}

function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

// Long texts are folded.
function showText({ content }, data, isCut) {
  const text = new TextDecoder().decode(data);
  const pre = el("pre", { dir: "auto", tabindex: "0" }, visible(text.slice(0, LONG_TEXT)));
  content.append(pre);
  if (text.length > LONG_TEXT) {
    pre.append("…");
    const label = `Show all ${text.length.toLocaleString("en")} characters`;
    const rest = button(label, () => {
      pre.replaceChildren(visible(text));
      rest.remove();
    });
    rest.classList.add("more-text");
    content.append(rest);
  }
  if (isCut) content.append(el("p", { class: "soft" }, "Only the beginning is in this page."));
}

function save(handle) {
  const address = URL.createObjectURL(new Blob([bytesOf(handle.data)], { type: "application/octet-stream" }));
  const name = (handle.name || "content.txt").replace(CONTROLS, "_").replace(/[/\\:]/g, "_");
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
