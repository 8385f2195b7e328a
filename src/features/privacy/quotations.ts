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

/**
 * Returns what names the person. A first or last name alone may mean another one, or a thing, so it stays; so does a
 * local part such as `info`.
 */
export function quotationsOf({ identifiers, name }: Writing): Quotation[] {
  const names = (name ?? "").split(/\s+/).filter((part) => part.length >= 2);
  const [first, last] = [names[0], names.at(-1)];
  const quotations = identifiers.map((value) => ({
    ...literal(value, `${IDENTIFIER_START}${escaped(value)}${IDENTIFIER_END}`),
    isIdentifier: true,
  }));
  if (first !== undefined && last !== undefined && names.length > 1) {
    quotations.push(fullName(first, names.slice(1, -1), last));
  }
  for (const value of identifiers) {
    const local = /^([^@\s]+)@/.exec(value)?.[1];
    if (local !== undefined && isUnmistakable(local, names)) {
      quotations.push(literal(local, `${WORD_START}${escaped(local)}${WORD_END}`));
    }
  }
  return quotations;
}

function literal(token: string, source: string): Quotation {
  const pattern = new RegExp(source, "giu");
  return { token, isIdentifier: false, replace: (text, by) => text.replace(pattern, by) };
}

/**
 * The first and the last name in either order, with middle names and other characters than letters between them. It goes
 * on from each name step by step: one regular expression of all would try every way to split a text into middle names.
 */
function fullName(first: string, middle: readonly string[], last: string): Quotation {
  const [one, other] = [escaped(first), escaped(last)];
  const start = new RegExp(`${WORD_START}(?:${one}|${other})`, "giu");
  const orders = [
    { from: sticky(one), to: sticky(`${other}${WORD_END}`) },
    { from: sticky(other), to: sticky(`${one}${WORD_END}`) },
  ];
  const longestFirst = middle.toSorted((a, b) => b.length - a.length).map(escaped);
  const between = sticky([...longestFirst, NO_WORD].join("|"));
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
    replace(text, by) {
      let [replaced, kept] = ["", 0];
      for (let match = find(start, text, 0); match !== undefined; ) {
        const end = endOf(text, match);
        if (end !== undefined) {
          replaced += text.slice(kept, match) + by(text.slice(match, end));
          kept = end;
        }
        match = find(start, text, end ?? match + String.fromCodePoint(text.codePointAt(match) ?? 0).length);
      }
      return replaced + text.slice(kept);
    },
  };
}

/** Index of the first match that begins at `from` or later. */
function find(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index;
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
