/** A phrase is at least this long, so that "I had had" and "very, very" are not repeats. */
const PHRASE_WORDS = 5;
const MAX_DIFFERENT_WORDS = 1;

/** Whether a phrase of five words comes twice, with at most one word changed: the sign of a decoder that loops. */
export function hasRepeatedPhrase(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  for (let first = 0; first + 2 * PHRASE_WORDS <= words.length; first += 1) {
    for (let second = first + PHRASE_WORDS; second + PHRASE_WORDS <= words.length; second += 1) {
      if (countDifferences(words, first, second) <= MAX_DIFFERENT_WORDS) return true;
    }
  }
  return false;
}

function countDifferences(words: readonly string[], a: number, b: number): number {
  let differences = 0;
  for (let offset = 0; offset < PHRASE_WORDS; offset += 1) {
    if (words[a + offset] !== words[b + offset]) differences += 1;
  }
  return differences;
}
