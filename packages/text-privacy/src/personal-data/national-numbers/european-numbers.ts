/** National numbers of European countries. */

import { digitsOf, isDate, isLuhn, isMod11_10, remainder, weightedSum } from "../../checksums.ts";
import type { NumberForm } from "./number-form.ts";

const d = digitsOf;

export const EUROPEAN_NUMBERS: readonly NumberForm[] = [
  {
    type: "UK_NHS",
    pattern: /(?<![\w.-])\d{3}([ -]?)\d{3}\1\d{4}(?![\w]|-\d)/g,
    isValid: (number) => {
      const check = 11 - (weightedSum(d(number), [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
      return (check === 11 ? 0 : check) === Number(number.at(-1)) && !/^(\d)\1+$/.test(number);
    },
    needs: "context",
    words: /\b(?:nhs|national health|patient|health service)\b/i,
  },
  {
    type: "UK_NINO",
    pattern: /(?<![\w-])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] \d{2} \d{2} \d{2} [A-D](?![\w-])/g,
    isValid: () => true,
    needs: "alone",
    words: /\b(?:national insurance|nino|ni (?:number|no))\b/i,
  },
  {
    type: "UK_NINO",
    pattern: /(?<![\w-])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{6} ?[A-D](?![\w-])/g,
    isValid: () => true,
    needs: "context",
    words: /\b(?:national insurance|nino|ni (?:number|no)|insurance)\b/i,
  },
  {
    type: "DE_TAX_ID",
    pattern: /(?<![\w.-])\d{2}([ ]?)\d{3}\1\d{3}\1\d{3}(?![\w]|-\d)/g,
    isValid: (number) => number.charAt(0) !== "0" && isMod11_10(d(number)) && hasGermanRepetition(number),
    needs: "context",
    words:
      /\b(?:steuer(?:liche)?[- ]?(?:id(?:entifikationsnummer|nr)?|nummer)?|idnr|identifikationsnummer|tin|tax id)\b/i,
  },
  {
    type: "DE_SOCIAL_SECURITY",
    pattern: /(?<![\w-])\d{2} ?(?:[0-7]\d)(?:0[1-9]|1[0-2])\d{2} ?[A-Z] ?\d{3}(?![\w-])/g,
    isValid: isGermanPensionNumber,
    needs: "alone",
    words: /\b(?:sozialversicherung|rentenversicherung|svnr|rvnr)/i,
  },
  {
    type: "FR_NIR",
    pattern: /(?<![\w.-])[1-478] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?![\w]|-\d)/g,
    isValid: (number) => {
      const body = number.slice(0, 13).replace("2A", "19").replace("2B", "18");
      return 97 - remainder(body, 97) === Number(number.slice(13));
    },
    needs: "unless-thing",
    words: /\b(?:nir|s[ée]curit[ée] sociale|num[ée]ro de s[ée]cu|insee)\b/i,
  },
  {
    type: "ES_NIF",
    pattern: /(?<![\w-])\d{8}-?[A-HJ-NP-TV-Z](?![\w-])/g,
    isValid: (number) => number.at(-1) === NIF_LETTERS.charAt(Number(number.slice(0, 8)) % 23),
    needs: "unless-thing",
    words: /\b(?:nif|dni|documento)\b/i,
  },
  {
    type: "ES_NIE",
    pattern: /(?<![\w-])[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z](?![\w-])/g,
    isValid: (number) => {
      const digits = `${"XYZ".indexOf(number.charAt(0))}${number.slice(1, 8)}`;
      return number.at(-1) === NIF_LETTERS.charAt(Number(digits) % 23);
    },
    needs: "unless-thing",
    words: /\b(?:nie|extranjero)\b/i,
  },
  {
    type: "IT_FISCAL_CODE",
    pattern:
      /(?<![\w-])[A-Za-z]{6}[\dL-NP-Vl-np-v]{2}[A-EHLMPR-Ta-ehlmpr-t][\dL-NP-Vl-np-v]{2}[A-Za-z][\dL-NP-Vl-np-v]{3}[A-Za-z](?![\w-])/g,
    isValid: isFiscalCode,
    needs: "alone",
    words: /\bcodice fiscale\b/i,
  },
  {
    type: "IT_VAT_CODE",
    pattern: /(?<![\w.-])(?:IT)?\d{11}(?![\w]|-\d)/g,
    isValid: (number) => isLuhn(d(number)) && !/0{11}/.test(number),
    needs: "context",
    words: /\b(?:partita iva|p\. ?iva|piva|vat)\b/i,
  },
  {
    type: "NL_BSN",
    pattern: /(?<![\w.-])\d{4}([ .]?)\d{2}\1\d{3}(?![\w]|-\d)|(?<![\w.-])\d{3}[ .]\d{3}[ .]\d{3}(?![\w]|-\d)/g,
    isValid: (number) => weightedSum(d(number), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 && Number(number) > 0,
    needs: "context",
    words: /\b(?:bsn|burgerservicenummer|sofi(?:nummer)?|citizen service)\b/i,
  },
  {
    type: "BE_NATIONAL_NUMBER",
    pattern: /(?<![\w.-])\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}(?![\w]|[.-]\d)/g,
    isValid: (number) => {
      const check = Number(number.slice(9));
      const body = number.slice(0, 9);
      return [body, `2${body}`].some((each) => 97 - remainder(each, 97) === check);
    },
    needs: "alone",
    words: /\b(?:rijksregister|registre national)/i,
  },
  {
    type: "CH_AHV",
    pattern: /(?<![\w.-])756\.?\d{4}\.?\d{4}\.?\d{2}(?![\w]|[.-]\d)/g,
    isValid: (number) => weightedSum(d(number), [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
    needs: "unless-thing",
    words: /\b(?:ahv|avs|sozialversicherungsnummer)\b/i,
  },
  {
    type: "AT_SVNR",
    pattern: /(?<![\w.-])\d{4} ?\d{6}(?![\w]|-\d)/g,
    isValid: (number) =>
      weightedSum(d(number), [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(number.charAt(3)) &&
      isDate(Number(number.slice(6, 8)), Number(number.slice(4, 6))),
    needs: "context",
    words: /\b(?:svnr|sozialversicherung|versicherungsnummer)/i,
  },
  {
    type: "PT_NIF",
    pattern: /(?<![\w.-])[1-3568]\d{2}( ?)\d{3}\1\d{3}(?![\w]|-\d)/g,
    isValid: (number) => {
      const rest = weightedSum(d(number), [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
      return (rest < 2 ? 0 : 11 - rest) === Number(number.at(-1));
    },
    needs: "context",
    words: /\b(?:nif|contribuinte)\b/i,
  },
  {
    type: "PL_PESEL",
    pattern: /(?<![\w.-])\d{11}(?![\w]|-\d)/g,
    isValid: (number) =>
      weightedSum(d(number), [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0 &&
      isDate(Number(number.slice(2, 4)) % 20, Number(number.slice(4, 6))),
    needs: "unless-thing",
    words: /\bpesel\b/i,
  },
  {
    type: "FI_PERSONAL_IDENTITY_CODE",
    pattern: /(?<![\w-])\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y](?![\w-])/g,
    isValid: (_number, value) => {
      const body = Number(value.slice(0, 6) + value.slice(7, 10));
      const isBorn = isDate(Number(value.slice(2, 4)), Number(value.slice(0, 2)));
      return isBorn && "0123456789ABCDEFHJKLMNPRSTUVWXY".charAt(body % 31) === value.at(-1);
    },
    needs: "alone",
    words: /\b(?:hetu|henkil[öo]tunnus)\b/i,
  },
  {
    type: "SE_PERSONNUMMER",
    pattern: /(?<![\w-])(?:\d{2})?\d{6}[-+]\d{4}(?![\w-])/g,
    isValid: (number) => {
      const short = number.slice(-10);
      const day = Number(short.slice(4, 6));
      return isLuhn(d(short)) && isDate(Number(short.slice(2, 4)), day > 60 ? day - 60 : day);
    },
    needs: "unless-thing",
    words: /\b(?:personnummer|samordningsnummer)\b/i,
  },
  {
    type: "DK_CPR",
    pattern: /(?<![\w-])\d{6}-?\d{4}(?![\w-])/g,
    isValid: (number) => isDate(Number(number.slice(2, 4)), Number(number.slice(0, 2))),
    needs: "context",
    words: /\b(?:cpr|personnummer)\b/i,
  },
  {
    type: "NO_FODSELSNUMMER",
    pattern: /(?<![\w.-])\d{6} ?\d{5}(?![\w]|-\d)/g,
    isValid: isNorwegianNumber,
    needs: "unless-thing",
    words: /\b(?:f[øo]dselsnummer|personnummer|d-nummer)\b/i,
  },
];

const NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";

/** One digit of the first ten occurs two or three times, the others at most once. */
function hasGermanRepetition(number: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of number.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] ?? 0) <= 3;
}

/** Section 152 of Book VI of the German Social Code. */
function isGermanPensionNumber(number: string): boolean {
  const letter = `${number.charCodeAt(8) - 64}`.padStart(2, "0");
  const digits = d(number.slice(0, 8) + letter + number.slice(9, 11));
  const weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
  const sum = weights.reduce((total, weight, index) => {
    const product = weight * (digits[index] ?? 0);
    return total + Math.floor(product / 10) + (product % 10);
  }, 0);
  return sum % 10 === Number(number.at(-1));
}

const FISCAL_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Decree of 23 December 1976: letters of odd places count by a table, those of even places by their order. */
function isFiscalCode(number: string): boolean {
  let sum = 0;
  for (let index = 0; index < 15; index += 1) {
    const code = number.charCodeAt(index);
    const value = code < 65 ? code - 48 : code - 65;
    sum += index % 2 === 0 ? (FISCAL_ODD[value] ?? 0) : value;
  }
  return 65 + (sum % 26) === number.charCodeAt(15);
}

function isNorwegianNumber(number: string): boolean {
  const digits = d(number);
  const day = Number(number.slice(0, 2));
  if (!isDate(Number(number.slice(2, 4)), day > 40 ? day - 40 : day)) return false;
  return (
    weightedSum(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0 &&
    weightedSum(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0
  );
}
