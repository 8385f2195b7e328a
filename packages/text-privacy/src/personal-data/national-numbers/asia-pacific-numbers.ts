/** National numbers of India, Australia, Singapore and Korea. */

import { digitsOf, isDate, isVerhoeff, weightedSum } from "../../checksums.ts";
import type { NumberForm } from "./number-form.ts";

const d = digitsOf;

export const ASIA_PACIFIC_NUMBERS: readonly NumberForm[] = [
  {
    type: "IN_AADHAAR",
    pattern: /(?<![\w.-])[2-9]\d{3}([ -])\d{4}\1\d{4}(?![\w]|[ -]\d)/g,
    isValid: (number) => isVerhoeff(d(number)),
    needs: "unless-thing",
    words: /\b(?:aadhaar|uidai)\b/i,
  },
  {
    type: "IN_PAN",
    pattern: /(?<![\w-])[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z](?![\w-])/g,
    isValid: () => true,
    needs: "context",
    words: /\b(?:pan|permanent account|income tax)\b/i,
  },
  {
    type: "AU_TFN",
    pattern: /(?<![\w.-])\d{3}( ?)\d{3}\1\d{3}(?![\w]|-\d)/g,
    isValid: (number) => weightedSum(d(number), [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
    needs: "context",
    words: /\b(?:tfn|tax file)\b/i,
  },
  {
    type: "AU_MEDICARE",
    pattern: /(?<![\w.-])[2-6]\d{3} ?\d{5} ?\d(?![\w]|-\d)/g,
    isValid: (number) => weightedSum(d(number), [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(number.charAt(8)),
    needs: "context",
    words: /\bmedicare\b/i,
  },
  {
    type: "AU_ABN",
    pattern: /(?<![\w.-])\d{2} ?\d{3} ?\d{3} ?\d{3}(?![\w]|-\d)/g,
    isValid: (number) => {
      const [first = 0, ...rest] = d(number);
      return weightedSum([first - 1, ...rest], [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) % 89 === 0;
    },
    needs: "context",
    words: /\b(?:abn|australian business)\b/i,
  },
  {
    type: "AU_ACN",
    pattern: /(?<![\w.-])\d{3} ?\d{3} ?\d{3}(?![\w]|-\d)/g,
    isValid: (number) => (10 - (weightedSum(d(number), [8, 7, 6, 5, 4, 3, 2, 1]) % 10)) % 10 === Number(number.at(-1)),
    needs: "context",
    words: /\b(?:acn|australian company)\b/i,
  },
  {
    type: "SG_NRIC_FIN",
    pattern: /(?<![\w-])[STFGM]\d{7}[A-Z](?![\w-])/g,
    isValid: isSingaporeNumber,
    needs: "unless-thing",
    words: /\b(?:nric|fin)\b/i,
  },
  {
    type: "KR_RRN",
    pattern: /(?<![\w-])\d{6}-[1-4]\d{6}(?![\w-])/g,
    isValid: (number) =>
      isDate(Number(number.slice(2, 4)), Number(number.slice(4, 6))) &&
      (11 - (weightedSum(d(number), [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === Number(number.at(-1)),
    needs: "unless-thing",
    words: /주민등록번호|\brrn\b/i,
  },
];

function isSingaporeNumber(number: string): boolean {
  const kind = number.charAt(0);
  const offset = kind === "T" || kind === "G" ? 4 : kind === "M" ? 3 : 0;
  const rest = (weightedSum(d(number), [2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
  const letters = kind === "S" || kind === "T" ? "JZIHGFEDCBA" : kind === "M" ? "KLJNPQRTUWX" : "XWUTRQPNMLK";
  return letters.charAt(kind === "M" ? 10 - rest : rest) === number.at(-1);
}
