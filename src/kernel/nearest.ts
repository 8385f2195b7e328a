import { closest, distance } from "fastest-levenshtein";

/** Longest word that is compared: the time grows with the square of the length. */
const MAX_LENGTH = 100;

/** Candidate within a small edit distance, or with the same letters in another order. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0 || word.length > MAX_LENGTH) return undefined;
  const best = closest(word, candidates);
  const allowed = Math.max(1, Math.floor(Math.min(word.length, best.length) / 2.5));
  if (distance(word, best) <= allowed) return best;
  return candidates.find((candidate) => sorted(candidate) === sorted(word));
}

function sorted(word: string): string {
  return [...word].sort().join("");
}
