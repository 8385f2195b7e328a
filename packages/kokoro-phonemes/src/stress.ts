/** Stress marks of the rules: ˈ stands before the stressed vowel, as espeak-ng writes it. */

export const PRIMARY = "ˈ";
export const SECONDARY = "ˌ";

/**
 * Adds stress marks to a word. `nuclei` are the ranges of its syllables' vowels, `stressed` the index of the stressed
 * one. Every second syllable before it has secondary stress, except the one next to it.
 */
export function markStress(word: string, nuclei: readonly { index: number }[], stressed: number): string {
  let marked = word;
  for (const [syllable, { index }] of [...nuclei.entries()].toReversed()) {
    const isSecondary = syllable < stressed - 1 && syllable % 2 === 0;
    const mark = syllable === stressed ? PRIMARY : isSecondary ? SECONDARY : "";
    marked = `${marked.slice(0, index)}${mark}${marked.slice(index)}`;
  }
  return marked;
}
