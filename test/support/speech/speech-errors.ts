import { openPhonemizer, type PhonemizedLanguage } from "@parlance-inference/kokoro-phonemes/open-phonemizer";
import { wordErrors, wordsOf } from "../models/word-errors.ts";

/** Languages without spaces between words, whose characters are compared. */
const BY_CHARACTER: ReadonlySet<string> = new Set(["ja", "zh"]);

export interface SpeechErrors {
  errors: number;
  total: number;
}

/** Counts the words (characters of Japanese and Chinese) of a sentence that a listener did not understand. */
export async function speechErrors(
  language: PhonemizedLanguage,
  sentence: string,
  heard: string,
): Promise<SpeechErrors> {
  const phonemizer = await openPhonemizer(language);
  const [reference, transcript] = [sentence, heard].map((text) => {
    const words = wordsOf(withoutAccents(phonemizer.normalize(text)));
    return BY_CHARACTER.has(language) ? [...words.join("")].join(" ") : words.join(" ");
  });
  return { errors: wordErrors(reference ?? "", transcript ?? ""), total: wordsOf(reference ?? "").length };
}

/** Removes accents of Latin letters, which are spelling: a listener does not hear them. */
function withoutAccents(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .normalize("NFC");
}
