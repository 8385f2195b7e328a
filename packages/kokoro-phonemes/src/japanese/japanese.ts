/** Japanese: words and their pronunciation by IPADIC, phonemes by a table of kana. */

import type { Phonemizer } from "../phonemizer.ts";
import { Ipadic } from "./ipadic.ts";
import { readJapanese } from "./japanese-reading.ts";
import { kanaPhonemes } from "./kana-phonemes.ts";
import { type Morpheme, splitMorphemes } from "./morphemes.ts";

/** After compatibility normalization. */
const PUNCTUATION: Readonly<Record<string, string>> = {
  "、": ",",
  "。": ".",
  "「": "“",
  "」": "”",
  "『": "“",
  "』": "”",
  "《": "(",
  "》": ")",
  "【": "(",
  "】": ")",
  "・": " ",
  "〜": "—",
  "~": "—",
};
const MARKS = /([^\p{L}\p{M}\p{N}])/u;

/** `path`: of a file of IPADIC, such as `base.dat.gz`. */
export async function openJapanese(path: (name: string) => string): Promise<Phonemizer> {
  const dictionary = await Ipadic.open(path);
  return { normalize: readJapanese, phonemize: (sentence) => phonemes(dictionary, readJapanese(sentence)) };
}

function phonemes(dictionary: Ipadic, text: string): string {
  const parts = text.split(MARKS).map((part, index) => (index % 2 === 0 ? wordsOf(dictionary, part) : soundOf(part)));
  const spaced = parts
    .join("")
    .replaceAll(/\s+(?=[,.!?:;…)”])/gu, "")
    .replaceAll(/(?<=[(“])\s+/gu, "")
    .replaceAll(/\s{2,}/gu, " ")
    .trim();
  return /\p{L}/u.test(spaced) ? spaced : "";
}

function wordsOf(dictionary: Ipadic, text: string): string {
  let sound = "";
  for (const morpheme of splitMorphemes(dictionary, text)) {
    const word = kanaPhonemes(toKatakana(pronunciationOf(morpheme)));
    sound += word === "" || isSuffix(morpheme) ? word : ` ${word}`;
  }
  return sound;
}

/** Returns the sound of a punctuation mark; a mark that is not read separates words. */
function soundOf(mark: string): string {
  const sound = PUNCTUATION[mark] ?? (/[,.!?:;()“”…—]/u.test(mark) ? mark : " ");
  return sound === "“" || sound === "(" ? ` ${sound}` : sound;
}

function pronunciationOf({ surface, pronunciation }: Morpheme): string {
  return pronunciation === undefined || pronunciation === "*" ? surface : pronunciation;
}

/** Endings are part of the word before them: 行き and ます. */
function isSuffix({ partOfSpeech, subdivision }: Morpheme): boolean {
  return partOfSpeech === "助動詞" || subdivision === "接続助詞" || subdivision === "接尾";
}

function toKatakana(text: string): string {
  return text.replaceAll(/[ぁ-ゖ]/gu, (kana) => String.fromCharCode(kana.charCodeAt(0) + 0x60));
}
