interface Part {
  start: number;
  text: string;
  isMatch: boolean;
}

/** Shorter words are in every text. A word without its ending is compared, so that `tides` marks `tide`. */
const MIN_LENGTH = 3;
const ENDING = /(?:ing|ies|y|ed|es|e|s)$/;

/** Splits a text into words that the query has, too, and what is between them. */
export function splitByWords(text: string, query: string): Part[] {
  const stems = new Set(wordsOf(query).map(({ word }) => stemOf(word)));
  const parts: Part[] = [];
  let end = 0;
  for (const { word, start } of wordsOf(text)) {
    if (word.length < MIN_LENGTH || !stems.has(stemOf(word))) continue;
    if (start > end) parts.push({ start: end, text: text.slice(end, start), isMatch: false });
    end = start + word.length;
    parts.push({ start, text: text.slice(start, end), isMatch: true });
  }
  if (end < text.length) parts.push({ start: end, text: text.slice(end), isMatch: false });
  return parts;
}

function wordsOf(text: string): { word: string; start: number }[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: word, index }) => ({ word, start: index }));
}

function stemOf(word: string): string {
  const lower = word.toLowerCase();
  const stem = lower.replace(ENDING, "");
  return stem.length < MIN_LENGTH ? lower : stem;
}
