interface Part {
  start: number;
  text: string;
  isMatch: boolean;
}

/** Shorter words, such as "the", are in every text, unless they are written in capitals, as abbreviations are. */
const MIN_LENGTH = 4;
/** A word without its ending is compared, so that `tides` marks `tide`. */
const MIN_STEM_LENGTH = 3;
const ENDING = /(?:ing|ies|y|ed|es|e|s)$/;

/** Splits a text into words that the query has, too, and what is between them. */
export function splitByWords(text: string, query: string): Part[] {
  const stems = new Set(wordsOf(query).map(({ word }) => stemOf(word)));
  const parts: Part[] = [];
  let end = 0;
  for (const { word, start } of wordsOf(text)) {
    if (!isTelling(word) || !stems.has(stemOf(word))) continue;
    if (start > end) parts.push({ start: end, text: text.slice(end, start), isMatch: false });
    end = start + word.length;
    parts.push({ start, text: text.slice(start, end), isMatch: true });
  }
  if (end < text.length) parts.push({ start: end, text: text.slice(end), isMatch: false });
  return parts;
}

function isTelling(word: string): boolean {
  return word.length >= MIN_LENGTH || (word.length > 1 && word === word.toUpperCase());
}

function wordsOf(text: string): { word: string; start: number }[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: word, index }) => ({ word, start: index }));
}

function stemOf(word: string): string {
  const lower = word.toLowerCase();
  const stem = lower.replace(ENDING, "");
  return stem.length < MIN_STEM_LENGTH ? lower : stem;
}
