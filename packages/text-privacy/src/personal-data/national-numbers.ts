/** National numbers of people, with their check digits. */

import { digitsOf, isDate, isLuhn, isMod11_10, isVerhoeff, remainder, weightedSum } from "../checksums.ts";
import { hasContext, type Match, type Recognizer } from "../match.ts";
import { namesThing } from "./contact.ts";

interface NumberForm {
  type: string;
  pattern: RegExp;
  /** Checks the number without separators, in upper case. */
  isValid: (number: string, value: string) => boolean;
  /**
   * `alone`: the form says enough. `unless-thing`: so it does, unless words before it name an order or a part.
   * `context`: the form fits too many other numbers, so `words` must be near.
   */
  needs: "alone" | "unless-thing" | "context";
  /** Words that name the number. */
  words: RegExp;
}

const SSN_WORDS = /\b(?:ssn|ss#|social security|soc sec|social)\b/i;
const d = digitsOf;

const FORMS: readonly NumberForm[] = [
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
    type: "BR_CPF",
    pattern: /(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w]|-\d)/g,
    isValid: isCpf,
    needs: "alone",
    words: /\bcpf\b/i,
  },
  { type: "BR_CPF", pattern: /(?<![\w.-])\d{11}(?![\w]|-\d)/g, isValid: isCpf, needs: "context", words: /\bcpf\b/i },
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

const SCORES = { alone: 0.9, "unless-thing": 0.85, context: 0.8 } as const;

export const nationalNumberRecognizer: Recognizer = {
  types: [...new Set(FORMS.map(({ type }) => type))],
  *find(text) {
    for (const form of FORMS) {
      for (const { index, 0: value } of text.matchAll(form.pattern)) {
        const match: Match = { type: form.type, start: index, end: index + value.length, score: SCORES[form.needs] };
        if (!form.isValid(value.replace(/[^\dA-Za-z]/g, "").toUpperCase(), value)) continue;
        const isNamed = hasContext(text, match, form.words);
        if (isNamed) yield { ...match, score: 0.95 };
        else if (form.needs === "alone" || (form.needs === "unless-thing" && !namesThing(text, match))) yield match;
      }
    }
  },
};

const NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";

function isSsn(number: string): boolean {
  const [area, group, serial] = [number.slice(0, 3), number.slice(3, 5), number.slice(5)];
  return (
    area !== "000" && area !== "666" && area < "900" && group !== "00" && serial !== "0000" && !/^(\d)\1+$/.test(number)
  );
}

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

function isSingaporeNumber(number: string): boolean {
  const kind = number.charAt(0);
  const offset = kind === "T" || kind === "G" ? 4 : kind === "M" ? 3 : 0;
  const rest = (weightedSum(d(number), [2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
  const letters = kind === "S" || kind === "T" ? "JZIHGFEDCBA" : kind === "M" ? "KLJNPQRTUWX" : "XWUTRQPNMLK";
  return letters.charAt(kind === "M" ? 10 - rest : rest) === number.at(-1);
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
