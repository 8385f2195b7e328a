/** Terms of a text for keyword search: words, parts of identifiers, and pairs of characters of scripts without spaces. */

const WORD = /[\p{L}\p{N}_]+/gu;
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu;
/** Scripts that do not separate words. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const MARKS = /\p{M}+/gu;
const MAX_TERM_CHARACTERS = 64;

/** Hashes of all terms in their order, with repetitions. */
export function termsOf(text: string): number[] {
  const terms: number[] = [];
  for (const [word] of text.normalize("NFKD").replace(MARKS, "").matchAll(WORD)) {
    if (DENSE.test(word)) addPairs(word, terms);
    else addWord(word, terms);
  }
  return terms;
}

/** Terms and their numbers of occurrences, at most 255 each. */
export function countTerms(terms: readonly number[]): { terms: Uint32Array; counts: Uint8Array } {
  const counts = new Map<number, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { terms: Uint32Array.from(counts.keys()), counts: Uint8Array.from(counts.values(), (n) => Math.min(n, 255)) };
}

function addWord(word: string, terms: number[]): void {
  const text = word.toLowerCase().slice(0, MAX_TERM_CHARACTERS);
  terms.push(hash(stem(text)));
  const parts = word.match(PARTS) ?? [];
  if (parts.length < 2) return;
  for (const part of parts) terms.push(hash(stem(part.toLowerCase().slice(0, MAX_TERM_CHARACTERS))));
}

function addPairs(word: string, terms: number[]): void {
  const characters = [...word.toLowerCase()];
  for (let index = 0; index < Math.max(1, characters.length - 1); index += 1) {
    terms.push(hash(`${characters[index]}${characters[index + 1] ?? ""}`));
  }
}

/** Removes common English endings (Harman's S stemmer, and -ing, -ed, -ly), which other languages rarely have. */
function stem(word: string): string {
  if (word.length < 4) return word;
  const singular = word
    .replace(/(?<![ea])ies$/, "y")
    .replace(/(?<=[^aeious])es$/, "e")
    .replace(/(?<=[^us])s$/, "");
  return singular.length > 5 ? singular.replace(/(?:ing|ed|ly|e)$/, "") : singular.replace(/e$/, "");
}

/** FNV-1a over UTF-16 units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
