/** Cards, bank accounts and wallets. */

import { createHash } from "node:crypto";
import { digitsOf, isIbanChecked, isLuhn } from "../checksums.ts";
import { hasContext, type Recognizer } from "../match.ts";
import { namesThing } from "./contact.ts";

const CARD =
  /(?<![\w.-])(?:\d{4}([ .-])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{3})?|\d{4}([ .-])\d{6}\2\d{4,5}|\d{12,19})(?![\w]|[-.]\d)/g;
/** Four groups on several lines; a column that goes on is a table. */
const CARD_ON_LINES = /(?<![\w.-]|\d\r?\n)\d{4}(?:(?: ?\r?\n|[ -])\d{4}){3}(?![\w]|[-.]\d|\r?\n\d)/g;

/** Ranges of issuers: first digits and lengths. */
const ISSUERS: ReadonlyArray<readonly [prefix: RegExp, lengths: readonly number[]]> = [
  [/^4/, [13, 16, 19]],
  [/^5[1-5]/, [16]],
  [/^2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[689])/, [14, 15, 16, 17, 18, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^(?:2131|1800)/, [15]],
  [/^(?:6011|64[4-9]|65|62)/, [16, 17, 18, 19]],
  [/^(?:5018|5020|5038|58|6304|6759|676[1-3])/, [12, 13, 14, 15, 16, 17, 18, 19]],
];
const CARD_WORDS =
  /\b(?:card|visa|mastercard|amex|american express|maestro|discover|diners|jcb|credit|debit|karte|kreditkarte|carte|tarjeta|carta|cc|pan|cvv|cvc|exp)\b/i;

export const cardRecognizer: Recognizer = {
  types: ["CREDIT_CARD"],
  *find(text) {
    for (const { index, 0: longest } of cardCandidates(text)) {
      // A number after a card, such as its verification code, looks like a fifth group.
      const isNamed = hasContext(text, { start: index, end: index + longest.length }, CARD_WORDS);
      const value = [longest, longest.slice(0, 19)].find((each) => isCard(each, isNamed));
      if (value === undefined) continue;
      const compact = value.replace(/\D/g, "");
      const place = { start: index, end: index + value.length };
      const isGrouped = compact.length !== value.length;
      if (!isGrouped && !isNamed && namesThing(text, place)) continue;
      // Timestamps and sequence numbers of 12 to 14 digits pass by chance more often than people write such cards.
      const isRare = compact.length < 15 && !isGrouped;
      if (isRare && !isNamed) continue;
      yield { type: "CREDIT_CARD", ...place, score: 1 };
    }
  },
};

function* cardCandidates(text: string): Iterable<RegExpExecArray> {
  yield* text.matchAll(CARD);
  if (text.includes("\n")) for (const match of text.matchAll(CARD_ON_LINES)) if (match[0].includes("\n")) yield match;
}

/** A number that is named as a card may be of any issuer. */
function isCard(value: string, isNamed: boolean): boolean {
  const digits = digitsOf(value);
  const compact = digits.join("");
  const hasIssuer =
    isNamed || ISSUERS.some(([prefix, lengths]) => lengths.includes(compact.length) && prefix.test(compact));
  return hasIssuer && isLuhn(digits) && new Set(digits).size > 1;
}

/** Lengths by country, from the IBAN registry. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 " +
    "FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
    "LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
    "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const IBAN_START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ \n-]?[A-Za-z0-9])/g;

export const ibanRecognizer: Recognizer = {
  types: ["IBAN_CODE"],
  *find(text) {
    for (const { index: start, 0: prefix } of text.matchAll(IBAN_START)) {
      const length = IBAN_LENGTHS[prefix.slice(0, 2).toUpperCase()];
      const iban = length === undefined ? undefined : ibanAt(text, start, length);
      if (iban !== undefined && isIbanChecked(iban.value)) yield { type: "IBAN_CODE", start, end: iban.end, score: 1 };
    }
  },
};

const BITCOIN = /(?<![A-Za-z0-9])(?:bc1[02-9ac-hj-np-z]{25,59}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?![A-Za-z0-9])/g;

export const cryptoRecognizer: Recognizer = {
  types: ["CRYPTO"],
  *find(text) {
    for (const { index, 0: value } of text.matchAll(BITCOIN)) {
      const isChecked = value.startsWith("bc1") ? isBech32(value) : isBase58Checked(value);
      if (isChecked) yield { type: "CRYPTO", start: index, end: index + value.length, score: 1 };
    }
  },
};

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function isBase58Checked(address: string): boolean {
  let value = 0n;
  for (const character of address) value = value * 58n + BigInt(BASE58.indexOf(character));
  const hex = value.toString(16).padStart(50, "0");
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex, "hex");
  const sha256 = (data: Buffer) => createHash("sha256").update(data).digest();
  return sha256(sha256(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21));
}

const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const BECH32_GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** Constants of BIP 173 and BIP 350. */
const BECH32_CHECKS = [1, 0x2bc830a3];

function isBech32(address: string): boolean {
  // The prefix "bc", expanded.
  const values = [3, 3, 0, 2, 3, ...[...address.slice(3)].map((character) => BECH32.indexOf(character))];
  let check = 1;
  for (const value of values) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of BECH32_GENERATORS.entries()) if ((top >>> bit) & 1) check ^= generator;
  }
  return BECH32_CHECKS.includes(check);
}

/** Undefined where fewer characters than `length` follow, or more. */
function ibanAt(text: string, start: number, length: number): { value: string; end: number } | undefined {
  let value = "";
  let end = start;
  for (; end < text.length && value.length < length; end += 1) {
    const character = text.charAt(end);
    if (/[A-Za-z0-9]/.test(character)) value += character.toUpperCase();
    else if (!/[ \n-]/.test(character) || /[ \n-]/.test(text.charAt(end - 1))) break;
  }
  return value.length < length || /[A-Za-z0-9]/.test(text.charAt(end)) ? undefined : { value, end };
}
