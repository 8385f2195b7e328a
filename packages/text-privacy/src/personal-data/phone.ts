/** Phone numbers, by the numbering plans of libphonenumber. */

import { createRequire } from "node:module";
import type * as LibPhoneNumber from "libphonenumber-js/min";
import { hasContext, type Recognizer } from "../match.ts";
import { namesThing } from "./contact.ts";

/** Regions whose national numbers are recognized. Numbers with a country code are recognized for all regions. */
export const DEFAULT_REGIONS: readonly string[] = ["US", "GB", "DE", "FR", "ES", "IT", "NL"];

const CANDIDATE =
  /(?<![\w@#$€£/.:=-]|[\w.][-/])(?:\+|00)?\(?\d[\d ()./\u00a0\u2011\u2013-]{5,24}\d(?:(?: ?x| ?ext\.? ?| ?#| ?Durchwahl )\d{1,6})?(?!\d|[-/.]\d|[A-Z@_]|[/.]\w|-(?!(?:office|fax|mobile|home|work|cell))\w)/gi;
const CONTEXT =
  /\b(?:tel(?:e(?:phone|fon|fono))?|phone|cell(?:ular|phone)?|mobile?|handy|fax|call(?:ed|ing)?|dial|ring|text|sms|whats ?app|contact|reach|number is|rufnummer|anrufen|t[ée]l[ée]phone|portable|appel(?:er|ez)|ll[áa]mame|m[óo]vil|cellulare|telefoonnummer|bel|mobiel|hotline|voicemail)\b/i;
/** "212 555 0147 (office)", "0171 2345678-Fax" */
const NAMED_AFTER = /^[ ,(-]{0,3}(?:office|fax|mobile|home|work|cell|direct|phone|tel)\b/i;
const AFTER = /(?:office|fax|mobile|home|work|cell|direct|phone|tel)\b/i;
/** A candidate and the word that names it. */
const AFTER_CHARACTERS = 48;
/** Dates, and decimal numbers. */
const NOT_PHONE = /^\d+\.\d+$|^\(?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4})(?:[ T]|$)/;
/** Beginnings of numbers that need no words around them. */
const LIKE_NUMBER = /^(?:\+|\(?0|\(?\d{3}\)?[-. ]|1[-. ])/;
/** Groups of the North American plan. */
const NORTH_AMERICAN = /^(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?!\d)/;

let loaded: typeof LibPhoneNumber | undefined;

/** Loads 2 MB, in 30 ms, for the first candidate: most texts have none. */
function libPhoneNumber(): typeof LibPhoneNumber {
  loaded ??= createRequire(import.meta.url)("libphonenumber-js/min") as typeof LibPhoneNumber;
  return loaded;
}

export function isRegion(code: string): boolean {
  return DEFAULT_REGIONS.includes(code) || libPhoneNumber().isSupportedCountry(code);
}

/** `regions`: ISO 3166 codes, such as `US`. Throws a RangeError for an unknown one. */
export function phoneRecognizer(regions: readonly string[] = DEFAULT_REGIONS): Recognizer {
  const unknown = regions.find((region) => !isRegion(region));
  if (unknown !== undefined) throw new RangeError(`${unknown} is not a region with phone numbers`);
  const countries = regions as readonly LibPhoneNumber.CountryCode[];
  return {
    types: ["PHONE_NUMBER"],
    *find(text) {
      const plans = new NumberingPlans(countries);
      const pattern = new RegExp(CANDIDATE);
      for (let number = pattern.exec(text); number !== null; number = pattern.exec(text)) {
        const { index, 0: longest } = number;
        const isNearWords = hasContext(text, { start: index, end: index }, CONTEXT, [48, 0]);
        const mayBeNumber = isNearWords || LIKE_NUMBER.test(longest);
        const match = (
          mayBeNumber || AFTER.test(text.slice(index, index + AFTER_CHARACTERS)) ? prefixesOf(longest) : []
        )
          .map((value) => {
            const after = text.slice(index + value.length, index + value.length + 12);
            const isNamed = isNearWords || NAMED_AFTER.test(after);
            return { value, score: scoreOf(text, { value, start: index, isNearWords: isNamed }, plans) };
          })
          .find(({ score }) => score > 0);
        if (match === undefined) {
          pattern.lastIndex = index + (/^\S+\s/.exec(longest)?.[0].length ?? longest.length);
          continue;
        }
        const end = index + match.value.length;
        yield { type: "PHONE_NUMBER", start: index, end, score: match.score };
        pattern.lastIndex = end;
      }
    },
  };
}

/** Shortest number of digits of a phone number. */
const MIN_DIGITS = 7;
/** Longest national number with an extension. */
const MAX_DIGITS = 16;
/** Groups that may belong to the next number. */
const MAX_DROPPED = 4;

/** The candidate, then what is left without its last groups: numbers may follow each other. */
function prefixesOf(candidate: string): string[] {
  const prefixes = [candidate];
  for (let value = candidate; prefixes.length <= MAX_DROPPED; ) {
    const space = value.search(/\s\S*$/);
    if (space < 0) break;
    value = value.slice(0, space).trimEnd();
    if (value.replace(/\D/g, "").length < MIN_DIGITS) break;
    prefixes.push(value);
  }
  return prefixes;
}

/** Questions to libphonenumber for one text, at 50 µs each. A hostile text has more candidates, which all count as numbers. */
const MAX_QUESTIONS = 500;

class NumberingPlans {
  readonly #countries: readonly LibPhoneNumber.CountryCode[];
  #questions = 0;

  constructor(countries: readonly LibPhoneNumber.CountryCode[]) {
    this.#countries = countries;
  }

  has(country: LibPhoneNumber.CountryCode): boolean {
    return this.#countries.includes(country);
  }

  /** Whether a number with its country code is valid, or at least possible. */
  international(value: string): "valid" | "possible" | undefined {
    if (this.#isExhausted()) return "valid";
    const parsed = libPhoneNumber().parsePhoneNumberFromString(value);
    return parsed?.isValid() ? "valid" : parsed?.isPossible() ? "possible" : undefined;
  }

  isValid(value: string, countries = this.#countries): boolean {
    return countries.some(
      (country) =>
        this.#isExhausted() || libPhoneNumber().parsePhoneNumberFromString(value, country)?.isValid() === true,
    );
  }

  isPossible(value: string, countries = this.#countries): boolean {
    return countries.some((country) => this.#isExhausted() || libPhoneNumber().isPossiblePhoneNumber(value, country));
  }

  #isExhausted(): boolean {
    this.#questions += 1;
    return this.#questions > MAX_QUESTIONS;
  }
}

const VALID_SCORE = 0.95;

interface Candidate {
  value: string;
  start: number;
  isNearWords: boolean;
}

function scoreOf(text: string, candidate: Candidate, plans: NumberingPlans): number {
  const { value, start } = candidate;
  const digits = value.replace(/\D/g, "").length;
  if (digits < MIN_DIGITS || digits > 21 || NOT_PHONE.test(value)) return 0;
  const isNamed = () => namesThing(text, { start });
  if (value.startsWith("+")) return internationalScore(value, candidate, plans);
  if (value.startsWith("00")) {
    const score = internationalScore(`+${value.slice(2)}`, candidate, plans);
    return score === VALID_SCORE && isNamed() ? 0 : score;
  }
  return isNamed() ? 0 : nationalScore(candidate, digits, plans);
}

/** `number` begins with `+`, where `value` may begin with `00`. */
function internationalScore(number: string, { value, isNearWords }: Candidate, plans: NumberingPlans): number {
  const validity = plans.international(number);
  if (validity === "valid") return VALID_SCORE;
  if (validity === "possible" && (value.startsWith("+") || isNearWords)) return 0.75;
  // Extensions and exchanges that no plan has: "+1-555-123-4567x89", "001-123-555-0000".
  return NORTH_AMERICAN.test(number.slice(1)) || isNearWords ? 0.7 : 0;
}

function nationalScore({ value, isNearWords }: Candidate, digits: number, plans: NumberingPlans): number {
  if (NORTH_AMERICAN.test(value) && plans.has("US")) {
    if (value.startsWith("(") || isNearWords) return 0.8;
    return plans.isValid(value, ["US"]) ? 0.7 : plans.isPossible(value, ["US"]) ? 0.55 : 0;
  }
  if (isNearWords) return digits <= MAX_DIGITS ? 0.7 : 0;
  // Without words around it, a national number starts with its trunk prefix and is grouped.
  const hasSeparators = /\d[ ()./\u00a0\u2011\u2013-]+\d/.test(value);
  return hasSeparators && /^\(?0/.test(value) && digits >= 9 && plans.isValid(value) ? 0.6 : 0;
}
