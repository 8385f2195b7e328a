/** Phonemes of pinyin syllables in the notation of misaki, on which Kokoro's Mandarin voices were trained. */

const INITIALS: Readonly<Record<string, string>> = {
  b: "p",
  c: "ʦʰ",
  ch: "ꭧʰ",
  d: "t",
  f: "f",
  g: "k",
  h: "x",
  j: "ʨ",
  k: "kʰ",
  l: "l",
  m: "m",
  n: "n",
  p: "pʰ",
  q: "ʨʰ",
  r: "ɻ",
  s: "s",
  sh: "ʂ",
  t: "tʰ",
  x: "ɕ",
  z: "ʦ",
  zh: "ꭧ",
};
/** Finals; the tone stands where the digit is. */
const FINALS: Readonly<Record<string, string>> = {
  a: "a0",
  ai: "ai0",
  an: "a0n",
  ang: "a0ŋ",
  ao: "au0",
  e: "ɤ0",
  ei: "ei0",
  en: "ə0n",
  eng: "ə0ŋ",
  er: "ɚ0",
  i: "i0",
  ia: "ja0",
  ian: "jɛ0n",
  iang: "ja0ŋ",
  iao: "jau0",
  ie: "je0",
  in: "i0n",
  ing: "i0ŋ",
  io: "jɔ0",
  iong: "jʊ0ŋ",
  iou: "jou0",
  o: "wo0",
  ong: "ʊ0ŋ",
  ou: "ou0",
  u: "u0",
  ua: "wa0",
  uai: "wai0",
  uan: "wa0n",
  uang: "wa0ŋ",
  uei: "wei0",
  uen: "wə0n",
  ueng: "wə0ŋ",
  uo: "wo0",
  ü: "y0",
  üan: "ɥɛ0n",
  üe: "ɥe0",
  ün: "y0n",
};
/** Spellings of finals after an initial. */
const SHORT_FINALS: Readonly<Record<string, string>> = { iu: "iou", ui: "uei", un: "uen", ue: "üe", ve: "üe", v: "ü" };
const TONES: Readonly<Record<string, string>> = { "1": "→", "2": "↗", "3": "↓", "4": "↘" };

/** Returns the phonemes of a syllable such as `zhong1` (0 or 5: neutral tone); undefined for other texts. */
export function pinyinPhonemes(syllable: string): string | undefined {
  const [, letters = "", tone = ""] = /^([a-zü]+)([0-5])$/u.exec(syllable) ?? [];
  if (letters === "r") return "ɚ";
  const spelled = withoutGlideLetters(letters);
  const [, initial = "", rest = ""] = /^(zh|ch|sh|[bpmfdtnlgkhjqxrzcs])?(.*)$/u.exec(spelled) ?? [];
  const full = SHORT_FINALS[rest] ?? rest;
  const final = /^[jqx]$/u.test(initial) ? full.replace(/^u(?!o)(?:e(?=n$))?/u, "ü") : full;
  const isApical = final === "i" && /^(?:zh|ch|sh|[rzcs])$/u.test(initial);
  const sound = isApical ? "ɨ0" : FINALS[final];
  if (sound === undefined) return undefined;
  return `${INITIALS[initial] ?? ""}${sound.replace("0", TONES[tone] ?? "")}`;
}

/** Writes the final of a syllable that begins with y or w as after a consonant. */
function withoutGlideLetters(letters: string): string {
  return letters
    .replace(/^yu/u, "ü")
    .replace(/^yi/u, "i")
    .replace(/^you$/u, "iou")
    .replace(/^y/u, "i")
    .replace(/^wu/u, "u")
    .replace(/^wei$/u, "uei")
    .replace(/^w/u, "u");
}
