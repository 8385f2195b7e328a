/** Writes numbers, dates, times, amounts, units, symbols and abbreviations as words. */

import type { ReadingRules } from "./reading-rules.ts";
import { romanValue } from "./roman-numerals.ts";
import { currencyName, UNIT_SYMBOLS, unitName } from "./units.ts";

const CURRENCY_SYMBOLS: Readonly<Record<string, string>> = {
  R$: "BRL",
  US$: "USD",
  $: "USD",
  "€": "EUR",
  "£": "GBP",
  "¥": "JPY",
  "₹": "INR",
};
const CURRENCY = "US\\$|R\\$|[$€£¥₹]|(?:EUR|USD|GBP|JPY|CHF|BRL|INR|CNY|MXN)\\b";
const LARGE =
  "(?:mil(?:l?[oiõ][a-zõãé]*)?|miliard[io]|milliards?|millions?|bilh[õã][a-z]*|mill[oó]n(?:es)?|milion[ei]|लाख|करोड़|हज़ार)";

/** Digits of the largest number that is read as one; those of a longer number are read one by one. */
const MAX_CARDINAL_DIGITS = 15;

/** Makes a function that writes a sentence of a language as it is spoken. */
export function readAloud(rules: ReadingRules): (sentence: string) => string {
  const mark = rules.decimalMark === "," ? "," : "\\.";
  const group = rules.decimalMark === "," ? "[.  \\u00a0\\u202f]" : "[,\\u00a0\\u202f]";
  const number = `\\d{1,3}(?:${group}\\d{3})+(?!\\d)(?:${mark}\\d+)?|\\d{1,2}(?:,\\d{2})+,\\d{3}(?!\\d)|\\d+(?:[.,]\\d+)?`;
  const pattern = (source: string, flags = "gu") => new RegExp(source, flags);
  const toValue = (digits: string) => decimalOf(digits, rules.decimalMark);

  const abbreviations = Object.entries(rules.abbreviations).map(
    ([short, words]) => [pattern(`(?<![\\p{L}\\p{M}.])${escaped(short)}(?![\\p{L}\\p{M}])`), `${words}`] as const,
  );
  const phone = /(?:\+\d|(?<![\d.,])0\d)[\d ().-]{6,}\d/gu;
  const isoDate = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/gu;
  const date = /(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)/gu;
  const time = /(?<![\d:])([01]?\d|2[0-3])(?::| ?h ?)([0-5]\d)(?::[0-5]\d)?(?![\d:])(?:\s?h\b)?/gu;
  const amountAfter = pattern(`(${CURRENCY})\\s?(${number})(\\s${LARGE}(?!\\p{L}))?`);
  const amountBefore = pattern(`(${number})(\\s${LARGE}(?!\\p{L}))?\\s?(${CURRENCY})`);
  const unit = pattern(
    `(?<![\\p{L}\\d])(${number})\\s?(${Object.keys(UNIT_SYMBOLS).map(escaped).join("|")})(?![\\p{L}\\p{M}\\d/])`,
  );
  const ordinal = pattern(`(?<![\\p{L}\\d.,])(\\d{1,4})\\.?(${rules.ordinalMarks})(?![\\p{L}\\p{M}])`);
  const romanOrdinal = pattern(`(?<![\\p{L}\\d])([IVX]+)(${rules.ordinalMarks})(?![\\p{L}\\p{M}])`);
  const roman = /(?<![\p{L}\p{M}\d])(?:(\p{L}+)(\s))?([IVX]{2,})(?![\p{L}\p{M}\d])/gu;
  const range = /(?<=\d)\s?[-–]\s?(?=\d)/gu;
  const version = /(?<![\d.])\d+(?:\.\d{1,2}){2,}(?![\d.]*\d)/gu;
  const negative = pattern(`(?<![\\p{L}\\d])[-−](?=\\d)`);
  const numbers = pattern(`(?:${number})(?=(?:\\s?(\\p{L}[\\p{L}\\p{M}]*))?)`);
  const symbols = pattern(`[${Object.keys(rules.symbols).map(escaped).join("")}]`);

  const writeDate = (year: string, month: string, day: string, original: string) => {
    const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
    if (Number(month) > 12 || Number(day) > 31 || Number.isNaN(time)) return original;
    const written = new Intl.DateTimeFormat(rules.locale, { dateStyle: "long", timeZone: "UTC" }).format(time);
    return rules.firstDay === undefined ? written : written.replace(/^1(?!\d)º?/u, rules.firstDay);
  };
  const writeAmount = (digits: string, large: string | undefined, symbol: string) => {
    const value = toValue(digits);
    const [whole = "0", cents] = value.split(".");
    const name = currencyName(
      rules.locale,
      CURRENCY_SYMBOLS[symbol] ?? symbol,
      large === undefined ? Number(whole) : 5,
    );
    if (large !== undefined) return `${digits}${large} ${rules.ofWord}${name}`;
    if (cents === undefined || cents.length > 2 || Number(cents) === 0) return `${whole} ${name}`;
    return `${whole} ${name} ${rules.centsWord}${Number(cents.padEnd(2, "0"))}`;
  };

  return (sentence) => {
    let text = sentence;
    for (const [short, words] of abbreviations) text = text.replaceAll(short, words);
    return text
      .replaceAll(phone, (digits) =>
        digits
          .replaceAll(/\D+/gu, ", ")
          .replaceAll(/(?<=\d)(?=\d)/gu, " ")
          .replace(/^, /u, ""),
      )
      .replaceAll(isoDate, (original, year, month, day) => writeDate(year, month, day, original))
      .replaceAll(date, (original, day, _mark, month, year) => writeDate(year, month, day, original))
      .replaceAll(time, (_, hours, minutes) => rules.clock(Number(hours), Number(minutes)))
      .replaceAll(amountAfter, (_, symbol, digits, large) => writeAmount(digits, large, symbol))
      .replaceAll(amountBefore, (_, digits, large, symbol) => writeAmount(digits, large, symbol))
      .replaceAll(unit, (original, digits, symbol, at: number, all: string) =>
        rules.notUnit?.test(all.slice(at + original.length - symbol.length))
          ? original
          : `${digits} ${unitName(rules.locale, symbol, Number(toValue(digits)))}`,
      )
      .replaceAll(romanOrdinal, (original, letters, ordinalMark) => {
        const value = romanValue(letters);
        return value === undefined ? original : rules.ordinal(String(value), ordinalMark);
      })
      .replaceAll(ordinal, (_, digits, ordinalMark) =>
        Number(digits) === 0 ? digits : rules.ordinal(digits, ordinalMark),
      )
      .replaceAll(roman, (original, previous = "", space = "", letters) => {
        const value = romanValue(letters);
        if (value === undefined) return original;
        return `${previous}${space}${rules.roman(String(value), previous.toLowerCase())}`;
      })
      .replaceAll(version, (digits) => digits.replaceAll(".", ` ${rules.pointWord} `))
      .replaceAll(range, ` ${rules.rangeWord} `)
      .replaceAll(negative, `${rules.minusWord} `)
      .replaceAll(numbers, (digits, next = "") => {
        const value = toValue(digits);
        const [whole = "", fraction] = value.split(".");
        const hasLeadingZero = /^0\d/u.test(whole) && fraction === undefined;
        if (!hasLeadingZero && whole.length <= MAX_CARDINAL_DIGITS) return rules.cardinal(value, next);
        const spell = (part: string) => [...part].map((digit) => rules.cardinal(digit, "")).join(" ");
        return fraction === undefined ? spell(whole) : `${spell(whole)}, ${spell(fraction)}`;
      })
      .replaceAll(symbols, (symbol) => ` ${rules.symbols[symbol] ?? ""} `)
      .replaceAll(/(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})/gu, " ")
      .replaceAll(/\s+/gu, " ");
  };
}

/** 12,34,567, in every language. */
const INDIAN_GROUPS = /^\d{1,2}(?:,\d{2})+,\d{3}$/;

/** Returns the number with `.` as its decimal mark and without separators of groups. */
function decimalOf(digits: string, mark: "," | "."): string {
  const compact = digits.replaceAll(/[\s\u00a0\u202f]/gu, "");
  if (INDIAN_GROUPS.test(compact)) return compact.replaceAll(",", "");
  const other = mark === "," ? "." : ",";
  // Groups of spaces among them: 1.234.567 890
  if (compact.split(other).length > 2) return compact.replaceAll(other, "").replace(",", ".");
  const isGrouped = new RegExp(`^\\d{1,3}(?:\\${other}\\d{2,3})*\\${other}\\d{3}(?:\\${mark}\\d+)?$`).test(compact);
  return (isGrouped ? compact.replaceAll(other, "") : compact).replace(",", ".");
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, "\\$&").replaceAll("-", "\\x2d");
}
