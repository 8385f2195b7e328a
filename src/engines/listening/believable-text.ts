/** Models write words where there are none, and repeat themselves without end: what nobody can have said is left out. */

/** Nobody says so many characters in a second; short sounds that are no words make models write that much. */
const MAX_CHARACTERS_PER_SECOND = 40;
/** People do repeat themselves, though not so often. */
const MAX_REPEATED_WORD = 5;
const MAX_REPEATED_PHRASE = 3;
const LONGEST_PHRASE_WORDS = 12;

/** The text as far as it can have been said in so many seconds; empty when none of it can. */
export function believableText(text: string, seconds: number): string {
  const words = withoutLoops(text.trim().split(/\s+/));
  const kept = words.join(" ");
  if (!/[\p{Letter}\p{Number}]/u.test(kept)) return "";
  return kept.length > Math.max(20, MAX_CHARACTERS_PER_SECOND * seconds) ? "" : kept;
}

/** A phrase that comes again and again, one straight after the other, is kept once. */
function withoutLoops(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < words.length; ) {
    const loop = loopAt(words, index);
    const length = loop?.phrase ?? 1;
    kept.push(...words.slice(index, index + length));
    index += loop === undefined ? 1 : loop.phrase * loop.times;
  }
  return kept;
}

function loopAt(words: readonly string[], start: number): { phrase: number; times: number } | undefined {
  for (let phrase = 1; phrase <= LONGEST_PHRASE_WORDS; phrase += 1) {
    let times = 1;
    while (isSame(words, start, start + times * phrase, phrase)) times += 1;
    if (times > (phrase === 1 ? MAX_REPEATED_WORD : MAX_REPEATED_PHRASE)) return { phrase, times };
  }
  return undefined;
}

function isSame(words: readonly string[], a: number, b: number, count: number): boolean {
  if (b + count > words.length) return false;
  for (let offset = 0; offset < count; offset += 1) {
    if (words[a + offset]?.toLowerCase() !== words[b + offset]?.toLowerCase()) return false;
  }
  return true;
}
