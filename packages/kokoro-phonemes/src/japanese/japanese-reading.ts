/** Writes numbers, dates, times, amounts and letters of Japanese texts in katakana. */

import { COUNTER_NAMES, cardinal, counted, digitByDigit } from "./japanese-numbers.ts";

const CURRENCIES: Readonly<Record<string, string>> = { "¥": "円", $: "ドル", "€": "ユーロ", "£": "ポンド" };
const UNITS: Readonly<Record<string, string>> = {
  "°C": "ド",
  "℃": "ド",
  "km/h": "キロメートル毎時",
  km: "キロメートル",
  kg: "キログラム",
  cm: "センチメートル",
  mm: "ミリメートル",
  m: "メートル",
  g: "グラム",
  GB: "ギガバイト",
};
const LETTERS =
  "エー ビー シー ディー イー エフ ジー エイチ アイ ジェー ケー エル エム エヌ オー ピー キュー アール エス ティー ユー ブイ ダブリュー エックス ワイ ゼット".split(
    " ",
  );
const NUMBER = String.raw`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`;
const pattern = (source: string) => new RegExp(source, "gu");
const DATE = /(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/gu;
const TIME = /(?<![\d:])(\d{1,2}):(\d{2})(?![\d:])/gu;
const AMOUNT = pattern(`([¥$€£])\\s?(${NUMBER})([万億兆]?)`);
const UNIT = pattern(`(${NUMBER})\\s?(${Object.keys(UNITS).join("|")})(?![A-Za-z])`);
const COUNTED = pattern(`(?<![\\d.])(\\d{1,3}(?:,\\d{3})+|\\d+)(${COUNTER_NAMES.join("|")})`);
/** Not 十分, which is "enough" more often than ten minutes, and 一日, which is "a day". */
const KANJI = pattern(
  `(?<![一二三四五六七八九十百千万億何数\\p{N}])(?!十分|一日|千人)([一二三四五六七八九十百千]+)(${COUNTER_NAMES.join("|")})`,
);
const NEGATIVE = /(?<![\p{L}\p{N}])[-−](?=\d)/gu;

/** Returns the sentence without digits, Latin letters and half-width characters. */
export function readJapanese(sentence: string): string {
  return sentence
    .normalize("NFKC")
    .replaceAll(DATE, (_, year, month, day) => `${year}年${Number(month)}月${Number(day)}日`)
    .replaceAll(TIME, (_, hours, minutes) => `${Number(hours)}時${minutes === "00" ? "" : `${Number(minutes)}分`}`)
    .replaceAll(/(?<=\d)\s?%/gu, "パーセント")
    .replaceAll(AMOUNT, (_, symbol, number, large) => `${number}${large}${CURRENCIES[symbol] ?? ""}`)
    .replaceAll(UNIT, (_, number, unit) => `${number}${UNITS[unit] ?? unit}`)
    .replaceAll(/(?<=\d\.\d+)度/gu, "ド")
    .replaceAll(NEGATIVE, "マイナス")
    .replaceAll(/(?<=\d)\s?[-–~〜]\s?(?=\d)/gu, "から")
    .replaceAll(/(?<![\d.,])0\d+(?![\d.,])/gu, (digits) => digitByDigit(digits))
    .replaceAll(KANJI, (_, kanji: string, counter: string) => counted(digitsOf(kanji), counter))
    .replaceAll(/(?<=月)1日/gu, "ツイタチ")
    .replaceAll(COUNTED, (_, digits: string, counter: string) => counted(digits.replaceAll(",", ""), counter))
    .replaceAll(pattern(NUMBER), (number) => decimal(number.replaceAll(",", "")))
    .replaceAll(/[a-z]/giu, (letter) => LETTERS[letter.toLowerCase().charCodeAt(0) - 97] ?? "");
}

/** Returns the number that kanji write, below ten thousand. */
function digitsOf(kanji: string): string {
  let value = 0;
  let digit = 0;
  for (const character of kanji) {
    const unit = { 十: 10, 百: 100, 千: 1000 }[character];
    if (unit === undefined) digit = 10 * digit + "〇一二三四五六七八九".indexOf(character);
    else {
      value += unit * Math.max(1, digit);
      digit = 0;
    }
  }
  return String(value + digit);
}

function decimal(value: string): string {
  const [whole = "", fraction] = value.split(".");
  return cardinal(whole) + (fraction === undefined ? "" : `テン${digitByDigit(fraction)}`);
}
