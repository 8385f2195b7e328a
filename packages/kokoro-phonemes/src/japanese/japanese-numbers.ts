/** Numbers in katakana, alone and before words that count, whose sounds they change. */

const DIGITS = ["レイ", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュー"];
const LARGE = ["", "マン", "オク", "チョー"];
/** As in other languages; names of larger numbers end. */
const MAX_CARDINAL_DIGITS = 15;
const HUNDREDS: Readonly<Record<number, string>> = { 1: "ヒャク", 3: "サンビャク", 6: "ロッピャク", 8: "ハッピャク" };
const THOUSANDS: Readonly<Record<number, string>> = { 1: "セン", 3: "サンゼン", 8: "ハッセン" };

/** `digits`: 0-9 only. */
export function cardinal(digits: string): string {
  const value = digits.replace(/^0+(?=\d)/, "");
  if (value.length > MAX_CARDINAL_DIGITS || value.length < digits.length) return digitByDigit(digits);
  if (value === "0") return "ゼロ";
  const groups: string[] = [];
  for (let end = value.length, power = 0; end > 0; end -= 4, power += 1) {
    const group = Number(value.slice(Math.max(0, end - 4), end));
    if (group > 0) groups.unshift(groupOf(group) + (LARGE[power] ?? ""));
  }
  // 一兆 is イッチョー.
  return groups.join("").replace("イチチョー", "イッチョー").replace("ハチチョー", "ハッチョー");
}

export function digitByDigit(digits: string): string {
  return [...digits].map((digit) => (digit === "0" ? "ゼロ" : DIGITS[Number(digit)])).join("");
}

function groupOf(value: number): string {
  const [thousands, hundreds, tens, ones] = [1000, 100, 10, 1].map((unit) => Math.floor(value / unit) % 10) as [
    number,
    number,
    number,
    number,
  ];
  const ofUnit = (count: number, irregular: Readonly<Record<number, string>>, name: string) =>
    count === 0 ? "" : (irregular[count] ?? `${DIGITS[count]}${name}`);
  return (
    ofUnit(thousands, THOUSANDS, "セン") +
    ofUnit(hundreds, HUNDREDS, "ヒャク") +
    ofUnit(tens, { 1: "ジュー" }, "ジュー") +
    (ones === 0 ? "" : DIGITS[ones])
  );
}

interface Counter {
  reading: string;
  /** Last digits (10 for a multiple of ten) before which the number ends in ッ: the sound of the reading decides. */
  doubles?: readonly number[];
  /** The reading after ッ and, in h, after ン: 一本 イッポン, 三本 サンボン. */
  hardened?: string;
  voiced?: string;
  /** Readings of whole numbers. */
  irregular?: Readonly<Record<number, string>>;
  /** Readings of last digits: 四時 is ヨジ. */
  digits?: Readonly<Record<number, string>>;
}

const K = [1, 6, 8, 10];
const S = [1, 8, 10];
/** By the day, from the second: 一日 is a day, too. */
const DAYS = ["", "", "フツカ", "ミッカ", "ヨッカ", "イツカ", "ムイカ", "ナノカ", "ヨーカ", "ココノカ", "トーカ"];

/** By the characters that follow the number, the longest first. */
const COUNTERS: ReadonlyMap<string, Counter> = new Map<string, Counter>([
  ["パーセント", { reading: "パーセント", doubles: S }],
  ["か月", { reading: "カゲツ", doubles: K }],
  ["ヶ月", { reading: "カゲツ", doubles: K }],
  ["週間", { reading: "シューカン", doubles: S }],
  ["時間", { reading: "ジカン", digits: { 4: "ヨ", 9: "ク" } }],
  ["日", { reading: "ニチ", irregular: { ...DAYS, 14: "ジューヨッカ", 20: "ハツカ", 24: "ニジューヨッカ" } }],
  ["月", { reading: "ガツ", digits: { 4: "シ", 7: "シチ", 9: "ク" } }],
  ["年", { reading: "ネン", digits: { 4: "ヨ" } }],
  ["時", { reading: "ジ", digits: { 4: "ヨ", 7: "シチ", 9: "ク" } }],
  ["分", { reading: "フン", doubles: K, hardened: "プン", voiced: "プン" }],
  ["度", { reading: "ド" }],
  ["番", { reading: "バン" }],
  ["枚", { reading: "マイ" }],
  ["台", { reading: "ダイ" }],
  ["名", { reading: "メイ" }],
  ["秒", { reading: "ビョー" }],
  ["円", { reading: "エン", digits: { 4: "ヨ" } }],
  ["人", { reading: "ニン", irregular: { 1: "ヒトリ", 2: "フタリ" }, digits: { 4: "ヨ" } }],
  [
    "つ",
    {
      reading: "ツ",
      irregular: {
        ...["", "ヒトツ", "フタツ", "ミッツ", "ヨッツ", "イツツ", "ムッツ", "ナナツ", "ヤッツ", "ココノツ"],
      },
    },
  ],
  ["歳", { reading: "サイ", doubles: S, irregular: { 20: "ハタチ" } }],
  ["才", { reading: "サイ", doubles: S, irregular: { 20: "ハタチ" } }],
  ["冊", { reading: "サツ", doubles: S }],
  ["個", { reading: "コ", doubles: K }],
  ["回", { reading: "カイ", doubles: K }],
  ["階", { reading: "カイ", doubles: K }],
  ["件", { reading: "ケン", doubles: K }],
  ["点", { reading: "テン", doubles: S }],
  ["本", { reading: "ホン", doubles: K, hardened: "ポン", voiced: "ボン" }],
  ["匹", { reading: "ヒキ", doubles: K, hardened: "ピキ", voiced: "ビキ" }],
  ["杯", { reading: "ハイ", doubles: K, hardened: "パイ", voiced: "バイ" }],
]);

export const COUNTER_NAMES = [...COUNTERS.keys()];

export function counted(digits: string, name: string): string {
  const counter = COUNTERS.get(name) as Counter;
  const irregular = counter.irregular?.[Number(digits)];
  if (irregular !== undefined && irregular !== "") return irregular;
  const number = cardinal(digits);
  const ones = Number(digits.at(-1));
  const last = ones === 0 && number.endsWith("ジュー") ? 10 : ones;
  const stem = number.slice(0, number.length - (last === 10 ? "ジュー" : (DIGITS[ones] ?? "")).length);
  const digit = counter.digits?.[last];
  if (digit !== undefined) return stem + digit + counter.reading;
  if (counter.doubles?.includes(last) === true) {
    const doubled: Readonly<Record<number, string>> = { 1: "イッ", 6: "ロッ", 8: "ハッ", 10: "ジュッ" };
    return stem + (doubled[last] ?? "") + (counter.hardened ?? counter.reading);
  }
  // 三 voices an h; ヨンプン, but ヨンホン.
  const isVoiced = counter.voiced !== undefined && (last === 3 || (last === 4 && counter.voiced === counter.hardened));
  return number + (isVoiced ? counter.voiced : counter.reading);
}
