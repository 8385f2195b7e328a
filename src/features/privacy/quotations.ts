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

/**
 * Returns what names the person. A first or last name alone may mean another one, or a thing, so it stays; so does a
 * local part such as `info`.
 */
export function quotationsOf({ identifiers, name }: Writing): Quotation[] {
  const names = (name ?? "").split(/\s+/).filter((part) => part.length >= 2);
  const [first, last] = [names[0], names.at(-1)];
  const quotations = identifiers.map((value) => ({ token: value, pattern: toPattern(escaped(value)) }));
  if (first !== undefined && last !== undefined && names.length > 1) {
    const [one, other] = [escaped(first), escaped(last)];
    const between = `(?:${names.slice(1, -1).map(escaped).join("|") || "(?!)"}|[^\\p{L}\\p{N}]){0,12}?`;
    quotations.push({ token: last, pattern: asWord(`(?:${one}${between}${other}|${other}${between}${one})`) });
  }
  for (const value of identifiers) {
    const local = /^([^@\s]+)@/.exec(value)?.[1];
    if (local !== undefined && isUnmistakable(local, names)) {
      quotations.push({ token: local, pattern: asWord(escaped(local)) });
    }
  }
  return quotations;
}

/** `ada.lovelace` and `alovelace`, but not `ada`, `info` or `lovelace`. */
function isUnmistakable(local: string, names: readonly string[]): boolean {
  if (/[\p{L}\p{N}]{2,}[._+-][\p{L}\p{N}]{2,}/u.test(local)) return true;
  return names.some((name) => {
    const rest = local.toLowerCase().replace(name.toLowerCase(), "");
    return name.length >= MIN_NAME && rest !== "" && rest.length < local.length;
  });
}

function asWord(source: string): RegExp {
  return toPattern(`(?<![\\p{L}\\p{N}])${source}(?![\\p{L}\\p{N}])`);
}

function toPattern(source: string): RegExp {
  return new RegExp(source, "giu");
}

/** As people write the value, and as JSON has it. */
function escaped(value: string): string {
  const inJson = JSON.stringify(value).slice(1, -1);
  const [plain, json] = [value, inJson].map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return plain === json ? (plain ?? "") : `(?:${plain}|${json})`;
}
