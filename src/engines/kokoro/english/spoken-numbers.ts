/** Numbers as Americans say them. */

import numberToWords from "number-to-words";

const toWords = (number: number) => plain(numberToWords.toWords(number));
const toWordsOrdinal = (number: number) => plain(numberToWords.toWordsOrdinal(number));

/** `forty-two` is read as two words, and the commas of long numbers would be heard as pauses. */
function plain(words: string): string {
  return words.replaceAll(",", "").replaceAll("-", " ");
}

/** Above this they are read digit by digit. */
const LARGEST_NAMED = 999_999_999_999_999;

/** Digits without signs or separators, such as `1250`, `007` or `3.14`. */
export function sayNumber(digits: string): string {
  const [whole = "", decimals] = digits.split(".");
  const said = sayWhole(whole === "" ? "0" : whole);
  return decimals === undefined || decimals === "" ? said : `${said} point ${sayDigits(decimals)}`;
}

function sayWhole(digits: string): string {
  const isCode = digits.length > 1 && digits.startsWith("0");
  if (isCode || Number(digits) > LARGEST_NAMED) return sayDigits(digits);
  return toWords(Number(digits));
}

export function sayDigits(digits: string): string {
  return [...digits].map((digit) => toWords(Number(digit))).join(" ");
}

export function sayOrdinal(digits: string): string {
  return Number(digits) > LARGEST_NAMED ? sayDigits(digits) : toWordsOrdinal(Number(digits));
}

/** Four digits: nineteen oh five, twenty twenty-four, two thousand seven. */
export function sayYear(digits: string): string {
  const year = Number(digits);
  const century = Math.floor(year / 100);
  const rest = year % 100;
  if (century % 10 === 0 && rest < 10) return sayNumber(digits);
  const head = toWords(century);
  if (rest === 0) return `${head} hundred`;
  return rest < 10 ? `${head} oh ${toWords(rest)}` : `${head} ${toWords(rest)}`;
}

/** Roman numerals in upper case; undefined when it is none. */
export function readRoman(numeral: string): number | undefined {
  if (!/^(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/.test(numeral)) return undefined;
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };
  const digits = [...numeral].map((letter) => values[letter] ?? 0);
  return digits.reduce((sum, value, index) => sum + (value < (digits[index + 1] ?? 0) ? -value : value), 0);
}
