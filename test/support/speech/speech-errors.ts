import { openPhonemizer, type PhonemizedLanguage } from "@parlance-inference/kokoro-phonemes/open-phonemizer";
import type { Phonemizer } from "@parlance-inference/kokoro-phonemes/phonemizer";
import { wordErrors, wordsOf } from "../models/word-errors.ts";

const TONES: Readonly<Record<string, string>> = { "→": "1", "↗": "2", "↓": "3", "↘": "4" };

export interface SpeechErrors {
  errors: number;
  total: number;
}

/** Counts the words (syllables of Chinese) of a sentence that a listener did not understand. */
export async function speechErrors(
  language: PhonemizedLanguage,
  sentence: string,
  heard: string,
): Promise<SpeechErrors> {
  const phonemizer = await openPhonemizer(language);
  const spoken = async (text: string) => {
    const words = phonemizer.normalize(text);
    return language === "zh" ? await syllablesOf(words, phonemizer) : withoutAccents(words);
  };
  const reference = await spoken(sentence);
  return { errors: wordErrors(reference, await spoken(heard)), total: wordsOf(reference).length };
}

/** Syllables of Chinese characters with their tones: Whisper writes simplified and traditional characters, and homophones. */
async function syllablesOf(text: string, phonemizer: Phonemizer): Promise<string> {
  const characters = text.match(/\p{Script=Han}/gu) ?? [];
  const syllables = await Promise.all(characters.map((character) => phonemizer.phonemize(character)));
  return syllables.join(" ").replaceAll(/[→↗↓↘]/gu, (arrow) => TONES[arrow] ?? "");
}

/** Removes accents of Latin letters, which are spelling: a listener does not hear them. */
function withoutAccents(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .normalize("NFC");
}
