/** Ways in which people write of a person in texts: in full, and in parts that can only mean this person. */

import type { Quotation } from "../../storage/personal-data.ts";

/** A person as others write of them. */
interface Writing {
  /** IDs and addresses. */
  identifiers: readonly string[];
  name: string | null;
}

/** The least that a local part without a separator has to have beside a name. */
const MIN_NAME = 4;
/** Middle names and other characters between the first and the last name. */
const MAX_BETWEEN = 12;
const NO_WORD = "[^\\p{L}\\p{N}]";
const WORD_START = "(?<![\\p{L}\\p{N}])";
const WORD_END = "(?![\\p{L}\\p{N}])";
/** `ada@example.com` is in neither `not.ada@example.com` nor `ada@example.com.au`. */
const IDENTIFIER_START = "(?<![\\p{L}\\p{N}]|[\\p{L}\\p{N}][._%+-])";
const IDENTIFIER_END = "(?![\\p{L}\\p{N}]|[.-][\\p{L}\\p{N}])";

/** UTF-16 code units of the longest spelling of one: `&#00001114111;`. */
const MAX_SPELLING = 14;

/**
 * Returns what names the person. A first or last name alone may mean another one, or a thing, so it stays; so does a
 * local part such as `info`.
 */
export function quotationsOf({ identifiers, name }: Writing): Quotation[] {
  const names = (name ?? "").split(/\s+/).filter((part) => part.length >= 2 && /[\p{L}\p{N}]/u.test(part));
  const [first, last] = [names[0], names.at(-1)];
  const quotations = identifiers.map(identifier);
  if (first !== undefined && last !== undefined && names.length > 1) {
    quotations.push(fullName(first, names.slice(1, -1), last));
  }
  for (const value of identifiers) {
    const local = localPart(value);
    if (local !== undefined && isUnmistakable(local, names)) {
      const find = finder(`${WORD_START}${escaped(local)}${WORD_END}`);
      quotations.push({ token: local, isIdentifier: false, maxLength: 2 * local.length, find });
    }
  }
  return quotations;
}

/** Its characters as they are, and as addresses of web pages, HTML and JSON within JSON spell them. */
function identifier(value: string): Quotation {
  const source = [...value].map((character) => `(?:${spellings(character).join("|")})`).join("");
  return {
    // Other characters may be spelled in several ways.
    token: (localPart(value) ?? value).match(/[A-Za-z0-9]+/g)?.reduce(longer) ?? "",
    isIdentifier: true,
    maxLength: MAX_SPELLING * value.length,
    find: finder(`${IDENTIFIER_START}${source}${IDENTIFIER_END}`),
  };
}

function spellings(character: string): string[] {
  if (/[A-Za-z0-9]/.test(character)) return [character];
  const code = character.codePointAt(0) ?? 0;
  const units = [...Array(character.length).keys()].map((index) => character.charCodeAt(index));
  return [
    escaped(character),
    [...Buffer.from(character)].map((byte) => `%${toHex(byte, 2)}`).join(""),
    `&#0{0,4}${code};`,
    `&#x0{0,4}${toHex(code, 1)};`,
    units.map((unit) => `\\\\u${toHex(unit, 4)}`).join(""),
  ];
}

function toHex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

function longer(one: string, other: string): string {
  return other.length > one.length ? other : one;
}

function localPart(value: string): string | undefined {
  return /^([^@\s]+)@/.exec(value)?.[1];
}

function finder(source: string): Quotation["find"] {
  const pattern = new RegExp(source, "giu");
  return (text, from) => {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    return match === null ? undefined : { start: match.index, end: pattern.lastIndex };
  };
}

/**
 * The first and the last name in either order, with middle names and other characters than letters between them. It goes
 * on from each name step by step: one regular expression of all would try every way to split a text into middle names.
 */
function fullName(first: string, middle: readonly string[], last: string): Quotation {
  const [one, other] = [escaped(first), escaped(last)];
  const findStart = finder(`${WORD_START}(?:${one}|${other})`);
  const orders = [
    { from: sticky(one), to: sticky(`${other}${WORD_END}`) },
    { from: sticky(other), to: sticky(`${one}${WORD_END}`) },
  ];
  const longestFirst = middle.toSorted((a, b) => b.length - a.length);
  const between = sticky([...longestFirst.map(escaped), NO_WORD].join("|"));
  const endOf = (text: string, index: number): number | undefined => {
    for (const { from, to } of orders) {
      let place = after(from, text, index);
      for (let pieces = 0; place !== undefined && pieces <= MAX_BETWEEN; pieces += 1) {
        const end = after(to, text, place);
        if (end !== undefined) return end;
        place = after(between, text, place);
      }
    }
    return undefined;
  };
  return {
    token: last,
    isIdentifier: false,
    // In another case, a letter may have two units instead of one.
    maxLength: 2 * (first.length + last.length + MAX_BETWEEN * Math.max(1, longestFirst[0]?.length ?? 0)),
    find(text, from) {
      for (let start = findStart(text, from)?.start; start !== undefined; ) {
        const end = endOf(text, start);
        if (end !== undefined) return { start, end };
        start = findStart(text, start + String.fromCodePoint(text.codePointAt(start) ?? 0).length)?.start;
      }
      return undefined;
    },
  };
}

/** End of the match that begins at `index`. */
function after(pattern: RegExp, text: string, index: number): number | undefined {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** `ada.lovelace` and `alovelace`, but not `ada`, `info` or `lovelace`. */
function isUnmistakable(local: string, names: readonly string[]): boolean {
  if (/[\p{L}\p{N}]{2,}[._+-][\p{L}\p{N}]{2,}/u.test(local)) return true;
  return names.some((name) => {
    const rest = local.toLowerCase().replace(name.toLowerCase(), "");
    return name.length >= MIN_NAME && rest !== "" && rest.length < local.length;
  });
}

function sticky(source: string): RegExp {
  return new RegExp(source, "iuy");
}

function escaped(value: string): string {
  return value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
