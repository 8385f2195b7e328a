/** National numbers of the United States and Brazil. */

import { digitsOf, weightedSum } from "../../checksums.ts";
import type { NumberForm } from "./number-form.ts";

const SSN_WORDS = /\b(?:ssn|ss#|social security|soc sec|social)\b/i;
const d = digitsOf;

export const AMERICAN_NUMBERS: readonly NumberForm[] = [
  {
    type: "US_SSN",
    pattern: /(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w]|-\d)/g,
    isValid: isSsn,
    needs: "unless-thing",
    words: SSN_WORDS,
  },
  {
    type: "US_SSN",
    pattern: /(?<![\w.-])\d{3}([ .]?)\d{2}\1\d{4}(?![\w]|-\d)/g,
    isValid: isSsn,
    needs: "context",
    words: SSN_WORDS,
  },
  {
    type: "US_ITIN",
    pattern: /(?<![\w.-])9\d{2}-(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])-\d{4}(?![\w]|-\d)/g,
    isValid: () => true,
    needs: "unless-thing",
    words: /\b(?:itin|taxpayer)\b/i,
  },
  {
    type: "US_PASSPORT",
    pattern: /(?<![\w.-])(?:\d{9}|[A-Z]\d{8})(?![\w-])/g,
    isValid: () => true,
    needs: "context",
    words: /\bpassport\b/i,
  },
  {
    type: "US_DRIVER_LICENSE",
    pattern:
      /(?<![\w.-])(?:[A-Za-z]\d{6,14}|[A-Za-z]{2}\d{5,6}[A-Za-z]?|[A-Z]\d{3}-\d{3,4}-\d{2,4}(?:-\d{2,4})?|\d{6,9})(?![\w-])/g,
    isValid: () => true,
    needs: "context",
    words: /\b(?:driver'?s?'? ?licen[sc]e|driving licen[sc]e|driver'?s? permit|dl ?(?:number|no|#))\b/i,
  },
  {
    type: "US_BANK_NUMBER",
    pattern: /(?<![\w.-])\d{8,17}(?![\w-])/g,
    isValid: () => true,
    needs: "context",
    words: /\b(?:bank|(?:checking|savings|debit|bank) ?account|account ?(?:number|no|#)|acct|routing)\b/i,
  },
  {
    type: "BR_CPF",
    pattern: /(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w]|-\d)/g,
    isValid: isCpf,
    needs: "alone",
    words: /\bcpf\b/i,
  },
  { type: "BR_CPF", pattern: /(?<![\w.-])\d{11}(?![\w]|-\d)/g, isValid: isCpf, needs: "context", words: /\bcpf\b/i },
];

function isSsn(number: string): boolean {
  const [area, group, serial] = [number.slice(0, 3), number.slice(3, 5), number.slice(5)];
  return (
    area !== "000" && area !== "666" && area < "900" && group !== "00" && serial !== "0000" && !/^(\d)\1+$/.test(number)
  );
}

function isCpf(number: string): boolean {
  if (/^(\d)\1+$/.test(number)) return false;
  const digits = d(number);
  const check = (count: number) => {
    const weights = Array.from({ length: count }, (_, index) => count + 1 - index);
    return ((weightedSum(digits, weights) * 10) % 11) % 10;
  };
  return check(9) === digits[9] && check(10) === digits[10];
}
