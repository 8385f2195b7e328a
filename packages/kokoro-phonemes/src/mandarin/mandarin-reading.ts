/** Writes Chinese numbers, dates, times and amounts in characters. */

import { toCardinal } from "n2words/zh-Hans-CN";

const DIGITS = "零一二三四五六七八九";
/** Words that count, before which two is 两. */
const COUNTERS = "个本张只条位次年天间件台部种名杯瓶把辆家所座岁分公斤块千万亿小";
const CURRENCIES: Readonly<Record<string, string>> = { "¥": "元", "￥": "元", $: "美元", "€": "欧元", "£": "英镑" };
const UNITS: Readonly<Record<string, string>> = {
  "°C": "摄氏度",
  "℃": "摄氏度",
  "km/h": "公里每小时",
  km: "公里",
  kg: "公斤",
  cm: "厘米",
  mm: "毫米",
  m: "米",
  g: "克",
  GB: "吉字节",
};
const NUMBER = String.raw`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`;

/** As in other languages; names of larger numbers end. */
const MAX_CARDINAL_DIGITS = 15;

const pattern = (source: string) => new RegExp(source, "gu");
const YEAR = /(?<!\d)(\d{4})(?=\s?年)/gu;
const DATE = /(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/gu;
const TIME = /(?<![\d:])(\d{1,2})[:：](\d{2})(?![\d:])/gu;
const PERCENT = pattern(`(${NUMBER})\\s?[%％]`);
const AMOUNT = pattern(`([¥￥$€£])\\s?(${NUMBER})([万亿]?)`);
const UNIT = pattern(`(${NUMBER})\\s?(${Object.keys(UNITS).join("|")})(?![A-Za-z])`);
const LONG_DIGITS = /(?<![\d.,])(?:0\d+|\d{7,})(?![\d.,])/gu;
const NEGATIVE = /(?<![\p{L}\p{N}])[-−](?=\d)/gu;
const COUNTED = pattern(`(?<![\\d.])2(?=[${COUNTERS}])`);

/** Returns the sentence with its numbers in characters. */
export function readMandarin(sentence: string): string {
  return sentence
    .replaceAll(DATE, (_, year, month, day) => `${year}年${Number(month)}月${Number(day)}日`)
    .replaceAll(YEAR, (year: string) => digitByDigit(year))
    .replaceAll(TIME, (_, hours, minutes) => `${Number(hours)}点${minutes === "00" ? "" : `${minutes}分`}`)
    .replaceAll(PERCENT, (_, number) => `百分之${number}`)
    .replaceAll(AMOUNT, (_, symbol, number, large) => `${number}${large}${CURRENCIES[symbol] ?? ""}`)
    .replaceAll(UNIT, (_, number, unit) => `${number}${UNITS[unit] ?? unit}`)
    .replaceAll(NEGATIVE, "负")
    .replaceAll(/(?<=\d)\s?[-–~～]\s?(?=\d)/gu, "到")
    .replaceAll(LONG_DIGITS, (digits) => digitByDigit(digits))
    .replaceAll(COUNTED, "两")
    .replaceAll(pattern(NUMBER), (number) => cardinal(number.replaceAll(",", "")));
}

function cardinal(value: string): string {
  const [whole = "", fraction] = value.split(".");
  if (whole.length > MAX_CARDINAL_DIGITS) {
    return digitByDigit(whole) + (fraction === undefined ? "" : `点${digitByDigit(fraction)}`);
  }
  return toCardinal(value, { formal: false }).replace(/^一十/u, "十");
}

function digitByDigit(digits: string): string {
  return [...digits].map((digit) => DIGITS.charAt(Number(digit))).join("");
}
