/**
 * Removes text that the audio cannot contain: speech recognition models write words for noise and repeat themselves
 * without end.
 */

/** Faster than any speaker; models write this much for short sounds that are not speech. */
const MAX_CHARACTERS_PER_SECOND = 40;
/** A short segment may still hold this much text. */
const MIN_ALLOWED_CHARACTERS = 20;
/** People do repeat themselves, but less often. */
const MAX_WORD_REPEATS = 5;
const MAX_PHRASE_REPEATS = 3;
const MAX_PHRASE_WORDS = 12;

/** The text without repetition loops; empty when it has no letters or digits or is too long for `seconds` of speech. */
export function filterHallucinations(text: string, seconds: number): string {
  const joined = collapseLoops(text.trim().split(/\s+/)).join(" ");
  if (!/[\p{Letter}\p{Number}]/u.test(joined)) return "";
  return joined.length > Math.max(MIN_ALLOWED_CHARACTERS, MAX_CHARACTERS_PER_SECOND * seconds) ? "" : joined;
}

/** Keeps one copy of a phrase that repeats back to back. */
function collapseLoops(words: readonly string[]): string[] {
  const output: string[] = [];
  for (let index = 0; index < words.length; ) {
    const loop = findLoop(words, index);
    const length = loop?.phraseWords ?? 1;
    output.push(...words.slice(index, index + length));
    index += loop === undefined ? 1 : loop.phraseWords * loop.repeats;
  }
  return output;
}

function findLoop(words: readonly string[], start: number): { phraseWords: number; repeats: number } | undefined {
  for (let phraseWords = 1; phraseWords <= MAX_PHRASE_WORDS; phraseWords += 1) {
    let repeats = 1;
    while (isSamePhrase(words, start, start + repeats * phraseWords, phraseWords)) repeats += 1;
    if (repeats > (phraseWords === 1 ? MAX_WORD_REPEATS : MAX_PHRASE_REPEATS)) return { phraseWords, repeats };
  }
  return undefined;
}

function isSamePhrase(words: readonly string[], a: number, b: number, count: number): boolean {
  if (b + count > words.length) return false;
  for (let offset = 0; offset < count; offset += 1) {
    if (words[a + offset]?.toLowerCase() !== words[b + offset]?.toLowerCase()) return false;
  }
  return true;
}
