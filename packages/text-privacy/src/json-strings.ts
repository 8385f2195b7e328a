/** Rewrites the strings and numbers of a JSON text and leaves everything else as it is written. */

import type { Match } from "./match.ts";

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

export function isJsonDocument(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A JSON text as lines to search: each value, decoded, after the key that it belongs to. */
export interface JsonLines {
  text: string;
  /** Where each value stands in `text`, in the order of the JSON text; keys are values too. */
  values: readonly { start: number; end: number }[];
}

export function toJsonLines(json: string): JsonLines {
  const values: { start: number; end: number }[] = [];
  const lines: string[] = [];
  let length = 0;
  let key = "";
  for (const { index, 0: token } of json.matchAll(TOKEN)) {
    const value = decode(token);
    const isKey = token.startsWith('"') && /^\s*:/.test(json.slice(index + token.length, index + token.length + 8));
    const label = isKey ? "" : key;
    values.push({ start: length + label.length, end: length + label.length + value.length });
    lines.push(label, value, "\n");
    length += label.length + value.length + 1;
    if (isKey) key = `${toWords(value.slice(0, MAX_KEY))}: `;
  }
  return { text: lines.join(""), values };
}

/** Returns the matches within each value, with offsets in it. */
export function matchesByValue({ values }: JsonLines, matches: readonly Match[]): Match[][] {
  let next = 0;
  return values.map(({ start, end }) => {
    const strings: Match[] = [];
    while (next < matches.length && (matches[next] as Match).end <= start) next += 1;
    for (let index = next; index < matches.length && (matches[index] as Match).start < end; index += 1) {
      const match = matches[index] as Match;
      strings.push({ ...match, start: Math.max(match.start, start) - start, end: Math.min(match.end, end) - start });
    }
    return strings;
  });
}

/** Returns the text with what `rewrite` returns for the decoded values. A number that changes becomes a string. */
export function rewriteJson(json: string, rewrite: (value: string, index: number) => string): string {
  let index = 0;
  return json.replace(TOKEN, (token) => {
    const value = decode(token);
    const rewritten = rewrite(value, index);
    index += 1;
    return value === rewritten ? token : JSON.stringify(rewritten);
  });
}

const MAX_KEY = 60;

/** "phoneNumber" and "phone_number" as words, which name what follows. */
function toWords(key: string): string {
  return key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ");
}

function decode(token: string): string {
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}
