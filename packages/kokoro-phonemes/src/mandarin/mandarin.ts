/** Mandarin: pinyin by pinyin-pro, words by Intl.Segmenter. Of the changes of tones, only those of 一 and 不 are written. */

import { pinyin } from "pinyin-pro";
import type { Phonemizer } from "../phonemizer.ts";
import { readMandarin } from "./mandarin-reading.ts";
import { pinyinPhonemes } from "./pinyin-phonemes.ts";

const PUNCTUATION: Readonly<Record<string, string>> = {
  "，": ", ",
  "、": ", ",
  "。": ". ",
  "．": ". ",
  "！": "! ",
  "？": "? ",
  "：": ": ",
  "；": "; ",
  "（": " (",
  "）": ") ",
  "《": " “",
  "》": "” ",
  "「": " “",
  "」": "” ",
  "【": " “",
  "】": "” ",
  "…": "… ",
  "—": "— ",
};
/** Names of Latin letters as syllables of Mandarin. */
const LETTERS: Readonly<Record<string, string>> = {
  a: "ei1",
  b: "bi4",
  c: "xi1",
  d: "di4",
  e: "yi4",
  f: "ai2 fu5",
  g: "ji4",
  h: "ei2 chi5",
  i: "ai4",
  j: "jie4",
  k: "kai4",
  l: "ai2 lu5",
  m: "ai2 mu5",
  n: "en1",
  o: "ou1",
  p: "pi4",
  q: "kou4",
  r: "a4",
  s: "ai2 si5",
  t: "ti4",
  u: "you4",
  v: "wei4",
  w: "da2 bu5 liu5",
  x: "ai2 ke5 si5",
  y: "wai4",
  z: "zei4",
};
const words = new Intl.Segmenter("zh", { granularity: "word" });

export function openMandarin(): Phonemizer {
  return { normalize: readMandarin, phonemize: (sentence) => phonemes(readMandarin(sentence)) };
}

function phonemes(text: string): string {
  // One syllable for each character, so that the readings depend on the entire sentence.
  const syllables = pinyin(text, { type: "array", toneType: "num", nonZh: "spaced" });
  let sound = "";
  let next = 0;
  for (const { segment } of words.segment(text)) {
    const characters = [...segment];
    const parts = characters.map((character, at) => soundOf(character, syllables[next + at]));
    next += characters.length;
    const isWord = /\p{L}/u.test(segment);
    sound += isWord ? `${parts.join("")} ` : parts.join("");
  }
  const spaced = sound
    .replaceAll(/ +(?=[,.!?:;…)”])/gu, "")
    .replaceAll(/ {2,}/gu, " ")
    .trim();
  return /\p{L}/u.test(spaced) ? spaced : "";
}

function soundOf(character: string, syllable: string | undefined): string {
  if (/\p{Script=Han}/u.test(character)) return pinyinPhonemes(syllable ?? "") ?? "";
  const letter = LETTERS[character.toLowerCase()];
  if (letter === undefined) return PUNCTUATION[character] ?? (/[,.!?:;()“” ]/u.test(character) ? character : "");
  return letter
    .split(" ")
    .map((name) => pinyinPhonemes(name))
    .join("");
}
