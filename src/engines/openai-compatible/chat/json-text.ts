/** Finds and sets values in the text of a JSON object and leaves all other text as it was written. */

export interface ValueSpan {
  /** Index of the key's opening quote. */
  keyStart: number;
  start: number;
  end: number;
}

/** The value of a key of the outermost object. `json` must be valid, and the key written without escapes. */
export function findValue(json: string, key: string): ValueSpan | undefined {
  let depth = 0;
  let index = 0;
  while (index < json.length) {
    const character = json[index] as string;
    if (character !== '"') {
      depth += nestingOf(character);
      index += 1;
      continue;
    }
    const end = endOfString(json, index);
    const isKey = depth === 1 && end - index === key.length + 2 && json.startsWith(key, index + 1);
    const colon = isKey ? skipSpace(json, end) : end;
    if (isKey && json[colon] === ":") {
      const start = skipSpace(json, colon + 1);
      return { keyStart: index, start, end: endOfValue(json, start) };
    }
    index = end;
  }
  return undefined;
}

function nestingOf(character: string): number {
  if (character === "{" || character === "[") return 1;
  return character === "}" || character === "]" ? -1 : 0;
}

/** The text with this key of the outermost object set to `value`, itself JSON; a key that is not there is put first. */
export function setValue(json: string, key: string, value: string): string {
  const span = findValue(json, key);
  if (span !== undefined) return json.slice(0, span.start) + value + json.slice(span.end);
  const open = json.indexOf("{") + 1;
  const isEmpty = json[skipSpace(json, open)] === "}";
  return `${json.slice(0, open)}"${key}":${value}${isEmpty ? "" : ","}${json.slice(open)}`;
}

/** The text without this key of the outermost object. */
export function removeValue(json: string, key: string): string {
  const span = findValue(json, key);
  if (span === undefined) return json;
  const after = skipSpace(json, span.end);
  if (json[after] === ",") return json.slice(0, span.keyStart) + json.slice(skipSpace(json, after + 1));
  const before = json.slice(0, span.keyStart).trimEnd();
  return (before.endsWith(",") ? before.slice(0, -1) : before) + json.slice(span.end);
}

/** Returns the index after white space, of which JSON has four kinds. */
export function skipSpace(text: string, from: number): number {
  let index = from;
  while (text[index] === " " || text[index] === "\n" || text[index] === "\t" || text[index] === "\r") index += 1;
  return index;
}

/** Returns the index after the closing quote of the string that opens at `start`. */
export function endOfString(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote === -1 ? json.length : quote + 1;
}

function isEscaped(json: string, quote: number): boolean {
  let backslashes = 0;
  while (json[quote - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start);
  let depth = 0;
  let index = start;
  while (index < json.length) {
    const character = json[index] as string;
    if (character === '"') {
      index = endOfString(json, index);
      continue;
    }
    const nesting = nestingOf(character);
    if (depth === 0 && (nesting < 0 || character === ",")) return index;
    depth += nesting;
    index += 1;
  }
  return index;
}
