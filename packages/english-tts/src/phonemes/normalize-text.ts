/** Text normalization: numbers, dates, amounts, units and abbreviations to words. */

import { readRoman, sayDigits, sayNumber, sayOrdinal, sayYear } from "./spoken-numbers.ts";

/** Tables of hibari's `normalize.json`. */
export interface NormalizationTables {
  /** `jan` → `January` */
  months: Readonly<Record<string, string>>;
  /** Titles before a name: `Dr` → `Doctor` */
  titles: Readonly<Record<string, string>>;
  abbreviations: Readonly<Record<string, string>>;
  /** Singular and plural. */
  units: Readonly<Record<string, readonly [string, string]>>;
  symbols: Readonly<Record<string, string>>;
  currency: Readonly<Record<string, readonly [string, string]>>;
  /** Words before a cardinal Roman numeral: `Chapter IV`. */
  roman_cardinal: readonly string[];
  /** Words before an ordinal Roman numeral: `Henry VIII`. */
  roman_ordinal: readonly string[];
}

type Rule = [pattern: RegExp, say: (match: RegExpExecArray) => string | undefined];

const NUMBER = "\\d+(?:,\\d{3})*(?:\\.\\d+)?";
const CENTS: Readonly<Record<string, readonly [string, string]>> = {
  $: ["cent", "cents"],
  "£": ["penny", "pence"],
  "€": ["cent", "cents"],
};
/** Codes of currencies beside hibari's. */
const CURRENCY_CODES: NormalizationTables["currency"] = {
  EUR: ["euro", "euros"],
  GBP: ["pound", "pounds"],
  CHF: ["Swiss franc", "Swiss francs"],
  CAD: ["Canadian dollar", "Canadian dollars"],
  AUD: ["Australian dollar", "Australian dollars"],
  NZD: ["New Zealand dollar", "New Zealand dollars"],
  SEK: ["Swedish krona", "Swedish kronor"],
  NOK: ["Norwegian krone", "Norwegian kroner"],
  DKK: ["Danish krone", "Danish kroner"],
  PLN: ["zloty", "zlotys"],
  CZK: ["Czech koruna", "Czech korunas"],
  JPY: ["yen", "yen"],
  CNY: ["yuan", "yuan"],
  INR: ["rupee", "rupees"],
  BRL: ["real", "reais"],
};
/** Symbols beside hibari's. */
const SYMBOLS: NormalizationTables["symbols"] = {
  "≥": "is at least",
  "≤": "is at most",
  "≠": "is not equal to",
  "≈": "is about",
  "±": "plus or minus",
  "→": "to",
  "√": "the square root of",
  "∞": "infinity",
};
const WEEKDAYS: Readonly<Record<string, string>> = {
  Mon: "Monday",
  Tue: "Tuesday",
  Tues: "Tuesday",
  Wed: "Wednesday",
  Thu: "Thursday",
  Thur: "Thursday",
  Thurs: "Thursday",
  Fri: "Friday",
  Sat: "Saturday",
  Sun: "Sunday",
};
const SCALES: Readonly<Record<string, string>> = { k: "thousand", m: "million", b: "billion", bn: "billion" };

export class TextNormalizer {
  readonly #rules: readonly Rule[];

  constructor(tables: NormalizationTables) {
    this.#rules = [...dateRules(tables), ...amountRules(tables), ...wordRules(tables), ...numberRules()];
  }

  /** Replaces every digit with words. */
  normalize(text: string): string {
    let normalized = text.replaceAll(/[’‘]/g, "'").replaceAll("―", "—");
    for (const [pattern, say] of this.#rules) {
      normalized = normalized.replaceAll(pattern, (...parts) => {
        const match = parts.slice(
          0,
          parts.findIndex((part) => typeof part === "number"),
        ) as unknown as RegExpExecArray;
        return say(match) ?? match[0];
      });
    }
    return normalized
      .replaceAll(/\s+/g, " ")
      .replaceAll(/ ([,.;:!?])/g, "$1")
      .trim();
  }
}

function anyOf(words: Iterable<string>): string {
  return [...words]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"))
    .join("|");
}

function dateRules({ months }: NormalizationTables): Rule[] {
  const weekday = anyOf(Object.keys(WEEKDAYS));
  const names = Object.values(months);
  const month = anyOf([...names, ...Object.keys(months).map((name) => name[0]?.toUpperCase() + name.slice(1)), "Sept"]);
  const full = (name: string) => months[name.toLowerCase().slice(0, 3)] ?? name;
  const isDay = (day: string) => Number(day) >= 1 && Number(day) <= 31;
  const date = (monthName: string | undefined, day: string, year: string | undefined) =>
    monthName === undefined || !isDay(day)
      ? undefined
      : `${monthName} ${sayOrdinal(day)}${year === undefined ? "" : `, ${sayYear(year)}`}`;
  return [
    [
      new RegExp(`\\b(${weekday})\\.?\\s?[-–—]\\s?(${weekday})\\b\\.?(?!\\w)`, "g"),
      ([, first = "", last = ""]) => `${WEEKDAYS[first]} to ${WEEKDAYS[last]}`,
    ],
    // Elsewhere, "Sun" and "Sat" are words.
    [new RegExp(`\\b(${weekday})\\.?(?=,? \\d|, (?:${month})\\b)`, "g"), ([, name = ""]) => WEEKDAYS[name]],
    [/\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([AaPp])\.?[Mm]\b\.?)?(?!\d)/g, ([, ...parts]) => sayTime(parts)],
    [/\b(\d{1,2})\s?([AaPp])\.?[Mm]\b\.?/g, ([, hour = "", half = ""]) => `${sayNumber(hour)} ${half.toUpperCase()}.M`],
    [/\b(\d{4})-(\d{2})-(\d{2})\b/g, ([, year, number, day = ""]) => date(names[Number(number) - 1], day, year)],
    [
      /\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g,
      ([, first = "", second = "", year]) =>
        Number(first) <= 12
          ? date(names[Number(first) - 1], second, year)
          : date(names[Number(second) - 1], first, year),
    ],
    [
      new RegExp(`\\b(${month})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?![\\d:%])(?:,? (\\d{4})\\b)?`, "g"),
      ([, name = "", day = "", year]) => date(full(name), day, year),
    ],
    [
      new RegExp(`\\b(?:the )?(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${month})\\b\\.?(?: (\\d{4})\\b)?`, "g"),
      ([, day = "", name = "", year]) =>
        isDay(day)
          ? `the ${sayOrdinal(day)} of ${full(name)}${year === undefined ? "" : ` ${sayYear(year)}`}`
          : undefined,
    ],
  ];
}

function sayTime([hour = "", minute = "", second, half]: (string | undefined)[]): string | undefined {
  if (Number(hour) > 24 || Number(minute) > 59) return undefined;
  const words = [sayNumber(String(Number(hour)))];
  if (minute === "00") words.push(half === undefined && second === undefined ? "o'clock" : "");
  else words.push(minute.startsWith("0") ? `oh ${sayNumber(minute.slice(1))}` : sayNumber(minute));
  if (second !== undefined) words.push(`and ${sayNumber(String(Number(second)))} seconds`);
  if (half !== undefined) words.push(`${half.toUpperCase()}.M`);
  return words.filter((word) => word !== "").join(" ");
}

function amountRules({ currency: ownCurrency, units }: NormalizationTables): Rule[] {
  const currency = { ...CURRENCY_CODES, ...ownCurrency };
  const plain = (number: string) => number.replaceAll(",", "");
  const counted = (number: string, [one, many]: readonly [string, string]) =>
    `${sayNumber(plain(number))} ${plain(number) === "1" ? one : many}`;
  const scale = (word: string) => SCALES[word.toLowerCase()] ?? word;
  const money = (sign: string, number: string, large: string | undefined): string | undefined => {
    const names = currency[sign.replace(".", "")];
    if (names === undefined) return undefined;
    if (large !== undefined) return `${sayNumber(plain(number))} ${scale(large)} ${names[1]}`;
    const [integer = "0", cents] = plain(number).split(".");
    const cent = CENTS[sign];
    if (cents?.length !== 2 || cent === undefined) return counted(number, names);
    if (Number(cents) === 0) return counted(integer, names);
    const small = counted(String(Number(cents)), cent);
    return Number(integer) === 0 ? small : `${counted(integer, names)} and ${small}`;
  };
  const large = "(?:\\s?(hundred|thousand|million|billion|trillion|bn\\b|[kKmMbB]\\b))?";
  const signs = anyOf(Object.keys(currency).filter((sign) => sign !== "¢"));
  const symbols = anyOf(Object.keys(currency).filter((sign) => /^\p{Sc}$/u.test(sign)));
  const codes = anyOf(Object.keys(currency).filter((sign) => /^[A-Z]{3}$/.test(sign)));
  const range = "\\s?[-–]\\s?";
  return [
    [
      new RegExp(`(?<!\\w)(${symbols})(${NUMBER})${range}\\1?(?=${NUMBER}(?!\\w))`, "g"),
      ([, sign = "", from = ""]) => `${sayNumber(plain(from))} to ${sign}`,
    ],
    [
      new RegExp(
        `(?<![\\w.-])(${NUMBER})${range}(?=${NUMBER}\\s?(?:[%°]|(?:${symbols}|${anyOf(Object.keys(units))})(?!\\w)))`,
        "g",
      ),
      ([, from = ""]) => `${sayNumber(plain(from))} to `,
    ],
    [
      new RegExp(`(?<!\\w)(${signs})\\.?\\s?(${NUMBER})${large}`, "g"),
      ([, sign = "", number = "", word]) => money(sign, number, word),
    ],
    [
      new RegExp(`(?<![\\w.,])(${NUMBER})${large}\\s(${codes})(?!\\w)`, "g"),
      ([, number = "", word, code = ""]) => money(code, number, word),
    ],
    [
      new RegExp(`(?<![\\w.,])(${NUMBER})${large}\\s?(${symbols})(?![\\w.]*\\d)`, "g"),
      ([, number = "", word, sign = ""]) => money(sign, number, word),
    ],
    [new RegExp(`(?<![\\w.])(${NUMBER})\\s?¢`, "g"), ([, number = ""]) => counted(number, ["cent", "cents"])],
    [
      new RegExp(`(?<![\\w.])(-?)(${NUMBER})\\s?°\\s?([CF])?(?!\\w)`, "g"),
      ([, minus, number = "", name]) => {
        const degrees = `${minus === "-" ? "minus " : ""}${counted(number, ["degree", "degrees"])}`;
        return name === undefined ? degrees : `${degrees} ${name === "C" ? "Celsius" : "Fahrenheit"}`;
      },
    ],
    [new RegExp(`(${NUMBER})\\s?%`, "g"), ([, number = ""]) => `${sayNumber(plain(number))} percent`],
    [
      new RegExp(`(?<![\\w.])(${NUMBER})\\s?(${anyOf(Object.keys(units))})(?!\\w)`, "g"),
      ([, number = "", unit = ""]) => counted(number, units[unit] ?? [unit, unit]),
    ],
  ];
}

function wordRules(tables: NormalizationTables): Rule[] {
  const { abbreviations, titles, roman_cardinal, roman_ordinal } = tables;
  const symbols = { ...SYMBOLS, ...tables.symbols };
  const ranked = (numeral: string) => readRoman(numeral);
  return [
    [new RegExp(`\\b(${anyOf(Object.keys(titles))})\\.? (?=\\p{Lu})`, "gu"), ([, title = ""]) => `${titles[title]} `],
    [
      new RegExp(`(?<![\\w.])(${anyOf(Object.keys(abbreviations))})(?!\\w)`, "g"),
      ([, short = ""]) => abbreviations[short],
    ],
    [/\b(No)s?\. ?(?=\d)/g, () => "Number "],
    [/(?<![\w.])pp\. ?(?=\d)/g, () => "pages "],
    [/(?<![\w.])p\. ?(?=\d)/g, () => "page "],
    [/\be\.g\.,?/g, () => "for example,"],
    [/\bi\.e\.,?/g, () => "that is,"],
    [/\betc\./g, () => "et cetera."],
    [/(?<![\w&])#(?=\d)/g, () => "number "],
    [
      new RegExp(`\\b(${anyOf(roman_cardinal)}) ([IVXLC]+)\\b(?![.'’]\\w)`, "g"),
      ([, word, numeral = ""]) => {
        const value = ranked(numeral);
        return value === undefined ? undefined : `${word} ${value}`;
      },
    ],
    [
      new RegExp(`\\b(${anyOf(roman_ordinal)}) ([IVXLC]{2,}|V|X)\\b(?![.'’]\\w)`, "g"),
      ([, word, numeral = ""]) => {
        const value = ranked(numeral);
        return value === undefined ? undefined : `${word} the ${sayOrdinal(String(value))}`;
      },
    ],
    [/\s&\s/g, () => " and "],
    [/(?<=\w)@(?=\w)/g, () => " at "],
    [/(?<![\w+])\+(?=\d)/g, () => "plus "],
    [/(?<=\d)\s?\+\s?(?=\d)|(?<=\s)\+(?=\s)/g, () => " plus "],
    [/(?<=\d)\s?\*\s?(?=\d)/g, () => " times "],
    [/(?<=\d) - (?=\d)/g, () => " minus "],
    [/(?<![\w.])-(?=\d)/g, () => "minus "],
    [/(?<=\p{L})-(?=\d)/gu, () => " "],
    [/(?<=\d)\s?(?=[¼-¾⅐-⅞])/g, () => " and "],
    [new RegExp(anyOf(Object.keys(symbols)), "g"), ([sign]) => ` ${symbols[sign] ?? ""} `],
  ];
}

function numberRules(): Rule[] {
  const FRACTIONS = ["", "", "half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
  const spaced = (words: string) => ` ${words} `;
  return [
    [/(?<![\w.-])(?:\d{3}-)?\d{3}-\d{4}(?![\w.-])/g, ([phone]) => phone.split("-").map(sayDigits).join(", ")],
    [/(?<![\w./])24\/7(?![\w./])/g, () => spaced("twenty four seven")],
    [
      /(?<![\w./])(\d{1,2})\/(\d{1,2})(?![\w./])/g,
      ([, upper = "", lower = ""]) => {
        const name = FRACTIONS[Number(lower)];
        if (name === undefined || name === "" || Number(upper) === 0) {
          return `${sayNumber(upper)} slash ${sayNumber(lower)}`;
        }
        if (Number(upper) === 1) return `one ${name}`;
        return `${sayNumber(upper)} ${name === "half" ? "halves" : `${name}s`}`;
      },
    ],
    [/(?<![\w.-])(\d{1,4})\s?[-–]\s?(\d{1,4})(?![\w.-])/g, ([, from, to]) => `${from} to ${to}`],
    [/\b(\d+)(?:st|nd|rd|th)\b/g, ([, digits = ""]) => sayOrdinal(digits)],
    [/\b(1[1-9]|20)(\d)0s\b/g, ([, century = "", decade = ""]) => sayDecade(century, decade)],
    [/(?<![\w.,])'?([2-9]0)s\b/g, ([, decade = ""]) => sayNumber(decade).replace(/y$/, "ies")],
    [/(?<![\w.,])(1[1-9]\d{2}|20\d{2})(?!\w|[,.]\d)/g, ([, year = ""]) => sayYear(year)],
    [/\d{1,3}(?:,\d{3})+(?:\.\d+)?/g, ([number]) => spaced(sayNumber(number.replaceAll(",", "")))],
    [/\d+\.\d+(?:\.\d+)+/g, ([version]) => spaced(version.split(".").map(sayNumber).join(" point "))],
    [/\d+\.\d+|\.\d+/g, ([number]) => spaced(sayNumber(number))],
    [/\d+/g, ([number]) => spaced(sayNumber(number))],
  ];
}

function sayDecade(century: string, decade: string): string {
  if (decade === "0") return `${sayNumber(century)} hundreds`;
  return `${sayNumber(century)} ${sayNumber(`${decade}0`).replace(/y$/, "ies").replace(/ten$/, "tens")}`;
}
