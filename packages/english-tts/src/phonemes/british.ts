/** How British English differs from the American phonemes of a word that no British dictionary has. */

import { VOWELS } from "./stress.ts";

/** American vowels before an r that is not spoken unless a vowel follows, and the British ones. */
const BEFORE_R: ReadonlyMap<string, string> = new Map([
  ["ɜ", "ɜː"],
  ["ə", "ə"],
  ["ɔ", "ɔː"],
  ["ɑ", "ɑː"],
  ["ɛ", "ɛː"],
  ["ɪ", "ɪə"],
  ["i", "ɪə"],
  ["ʊ", "ʊə"],
  ["u", "ʊə"],
]);
const R = new RegExp(`([${[...BEFORE_R.keys()].join("")}])ɹ(?=(.?))`, "gu");
const VOWEL = new RegExp(`[ˈˌ${VOWELS}]`, "u");

/** `word`: its spelling, in which an o says that `ɑ` is the short vowel of *lot*. */
export function toBritish(phonemes: string, word: string): string {
  const open = /o/i.test(word) && !/a/i.test(word) ? "ɒ" : "ɑː";
  return (
    phonemes
      .replaceAll(R, (_, vowel: string, next: string) => `${BEFORE_R.get(vowel)}${VOWEL.test(next) ? "ɹ" : ""}`)
      .replaceAll("O", "Q")
      .replaceAll("æ", "a")
      .replaceAll("ɾ", "t")
      .replaceAll("ᵻ", "ɪ")
      .replaceAll(/ɑ(?!ː)/g, open)
      .replaceAll(/ɔ(?!ː)/g, "ɔː")
      .replaceAll(/u(?!ː)/g, "uː")
      .replaceAll(/([ˈˌ]i)(?!ː)/g, "$1ː")
      // After the primary stress, the dictionaries write none.
      .replaceAll(/(?<=ˈ.*)ˌ/g, "")
  );
}
