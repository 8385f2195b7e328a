/** The strings and numbers of a JSON text: finds in them and rewrites them; everything else stays as it is written. */

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
  /** Where each value stands in `text`, and its token in the JSON text, in order; keys are values too. */
  values: readonly { start: number; end: number; token: Span }[];
}

export interface Span {
  start: number;
  end: number;
}

export function toJsonLines(json: string): JsonLines {
  const values: JsonLines["values"][number][] = [];
  const lines: string[] = [];
  let length = 0;
  let key = "";
  for (const { index, 0: token } of json.matchAll(TOKEN)) {
    const value = decodeToken(token);
    const end = index + token.length;
    const isKey = token.startsWith('"') && /^\s*:/.test(json.slice(end, end + 8));
    const label = isKey ? "" : key;
    const start = length + label.length;
    values.push({ start, end: start + value.length, token: { start: index, end } });
    lines.push(label, value, "\n");
    length += label.length + value.length + 1;
    if (isKey) key = `${toWords(value.slice(0, MAX_KEY))}: `;
  }
  return { text: lines.join(""), values };
}

/** Token of a JSON text with the matches in its value. */
export interface TokenMatches extends Span {
  /** With offsets in the value. */
  matches: readonly Match[];
}

/** Returns the tokens whose values have matches. */
export function tokensWithMatches({ values }: JsonLines, matches: readonly Match[]): TokenMatches[] {
  const tokens: TokenMatches[] = [];
  let next = 0;
  for (const { start, end, token } of values) {
    const inValue: Match[] = [];
    while (next < matches.length && (matches[next] as Match).end <= start) next += 1;
    for (let index = next; index < matches.length && (matches[index] as Match).start < end; index += 1) {
      const match = matches[index] as Match;
      inValue.push({ ...match, start: Math.max(match.start, start) - start, end: Math.min(match.end, end) - start });
    }
    if (inValue.length > 0) tokens.push({ ...token, matches: inValue });
  }
  return tokens;
}

/** Resolves with a token with what `rewrite` returns for its decoded value. A number that changes becomes a string. */
export async function rewriteToken(token: string, rewrite: (value: string) => Promise<string>): Promise<string> {
  const value = decodeToken(token);
  const rewritten = await rewrite(value);
  return value === rewritten ? token : JSON.stringify(rewritten);
}

const MAX_KEY = 60;

/** "phoneNumber" and "phone_number" as words, which name what follows. */
function toWords(key: string): string {
  return key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ");
}

function decodeToken(token: string): string {
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}
