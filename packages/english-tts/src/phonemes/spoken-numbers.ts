/** Numbers in American English words. */

import numberToWords from "number-to-words";

const toWords = (number: number) => plain(numberToWords.toWords(number));
const toWordsOrdinal = (number: number) => plain(numberToWords.toWordsOrdinal(number));

/** Removes hyphens and commas, which would be spoken as pauses. */
function plain(words: string): string {
  return words.replaceAll(",", "").replaceAll("-", " ");
}

/** Larger numbers are read digit by digit. */
const MAX_NAMED = 999_999_999_999_999;

/** Digits without signs or separators, such as `1250`, `007` or `3.14`. */
export function sayNumber(digits: string): string {
  const [integer = "", decimals] = digits.split(".");
  const spoken = sayWhole(integer === "" ? "0" : integer);
  return decimals === undefined || decimals === "" ? spoken : `${spoken} point ${sayDigits(decimals)}`;
}

function sayWhole(digits: string): string {
  const isCode = digits.length > 1 && digits.startsWith("0");
  if (isCode || Number(digits) > MAX_NAMED) return sayDigits(digits);
  return toWords(Number(digits));
}

export function sayDigits(digits: string): string {
  return [...digits].map((digit) => toWords(Number(digit))).join(" ");
}

/** Reads an integer as an ordinal: twenty second. Larger numbers are read digit by digit. */
export function sayOrdinal(digits: string): string {
  return Number(digits) > MAX_NAMED ? sayDigits(digits) : toWordsOrdinal(Number(digits));
}

/** Reads four digits as a year: nineteen oh five, twenty twenty-four, two thousand seven. */
export function sayYear(digits: string): string {
  const year = Number(digits);
  const century = Math.floor(year / 100);
  const rest = year % 100;
  if (century % 10 === 0 && rest < 10) return sayNumber(digits);
  const head = toWords(century);
  if (rest === 0) return `${head} hundred`;
  return rest < 10 ? `${head} oh ${toWords(rest)}` : `${head} ${toWords(rest)}`;
}

/** Parses an upper-case Roman numeral; undefined for any other text. */
export function readRoman(numeral: string): number | undefined {
  if (!/^(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/.test(numeral)) return undefined;
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };
  const digits = [...numeral].map((letter) => values[letter] ?? 0);
  return digits.reduce((sum, value, index) => sum + (value < (digits[index + 1] ?? 0) ? -value : value), 0);
}
