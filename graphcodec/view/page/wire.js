// What stands in a document: values as they are on the wire, and how people read them.

const DEEPEST = 12;

const doc = island();

// What a value stands for: without mere wrappers, and behind references.
function behind(value) {
  for (let steps = 0; steps < 100 && isMap(value); steps += 1) {
    const number = refOf(value);
    if (number !== null) value = doc.nodes[number] ?? null;
    else if (isWrapper(value)) value = Object.values(value)[0];
    else break;
  }
  return value;
}

function isMap(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWrapper(value) {
  const keys = Object.keys(value);
  return keys.length === 1 && (keys[0] === "$any" || keys[0] === "$value");
}

function refOf(value) {
  return isMap(value) && value.$type === "$ref" ? value.n : null;
}

function tagOf(value) {
  const tag = isMap(value) ? value.$type : null;
  return typeof tag === "string" && tag !== "$ref" && tag !== "$reader" ? tag : "";
}

// The marker of a container or of a scalar that JSON lacks, as in {"$tuple": []}.
function markOf(value) {
  if (!isMap(value) || "$type" in value) return "";
  const [first] = Object.keys(value);
  return first?.startsWith("$") ? first : "";
}

function textOf(value) {
  const found = behind(value);
  if (typeof found === "string") return found;
  if (tagOf(found)) return textOf(found.text ?? found.$value ?? "");
  return markOf(found) === "$str" ? unpaired(found.$str) : "";
}

// Half a character is six characters on the wire.
function unpaired(text) {
  return String(text).replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
}

function listOf(value) {
  const found = behind(value);
  if (Array.isArray(found)) return found;
  const inner = markOf(found) ? found[markOf(found)] : null;
  return Array.isArray(inner) ? inner : [];
}

function bytesIn(text) {
  return (text.length / 4) * 3 - (text.match(/=*$/)?.[0].length ?? 0);
}

function size(count) {
  for (const unit of ["B", "kB", "MB"]) {
    if (count < 999.95) return `${unit === "B" ? count : count.toFixed(1)} ${unit}`;
    count /= 1000;
  }
  return `${count.toFixed(1)} GB`;
}

// Scalars that JSON lacks, as people write them; null for all else.
function scalarText(value) {
  const mark = markOf(value);
  const inner = value[mark];
  if (mark === "$str") return JSON.stringify(unpaired(inner));
  if (mark === "$bytes" || mark === "$bytearray") return `<${plural(bytesIn(String(inner)), "byte")}>`;
  if (mark === "$int") return /^-?0x/.test(inner) ? hexed(inner) : String(inner);
  if (mark === "$timedelta" && Array.isArray(inner)) return `${inner[0]} d ${inner[1] + inner[2] / 1e6} s`;
  if (mark === "$complex" && Array.isArray(inner)) return `${inner[0]} + ${inner[1]} i`;
  if (mark === "$deep") return "… (deeper than is shown)";
  if (mark === "$enum") return `${inner}.${value.name ?? value.value}`;
  if (!mark || typeof inner === "object") return null;
  return [String(inner), value.zone, value.fold ? "fold" : ""].filter(isSomething).join(" ");
}

function hexed(text) {
  try {
    return text.startsWith("-") ? `-${BigInt(text.slice(1))}` : String(BigInt(text));
  } catch {
    return text;
  }
}

// Data as JSON that people read: no marks, and what is referred to in its place.
function readable(value, depth = 0, above = []) {
  const number = refOf(value);
  if (number !== null && (above.includes(number) || !(number in doc.nodes))) return `→ node ${number}`;
  const within = number === null ? above : [...above, number];
  const found = behind(value);
  if (typeof found !== "object" || found === null) return found;
  if (depth > DEEPEST) return "…";
  const next = (item) => readable(item, depth + 1, within);
  if (Array.isArray(found)) return found.map(next);
  if (found.$type === "$reader") return `<${where(doc.handles[found.handle])}>`;
  const scalar = scalarText(found);
  if (scalar !== null) return markOf(found) === "$str" ? unpaired(found.$str) : scalar;
  if (tagOf(found) === "Tokenizable") return next(found.text);
  if (markOf(found) === "$dict") return mapped(listOf(found).map((pair) => [keyText(pair?.[0]), next(pair?.[1])]));
  if (markOf(found)) return listOf(found).map(next);
  return mapped(Object.entries(found).map(([key, item]) => [key, next(item)]));
}

// Also of a key __proto__.
function mapped(pairs) {
  const made = Object.create(null);
  for (const [key, item] of pairs) made[key] = item;
  return made;
}

function keyText(key) {
  const found = readable(key);
  return typeof found === "string" ? found : JSON.stringify(found);
}

function where(handle) {
  return [handle.tag, handle.where].filter(Boolean).join(" ");
}
