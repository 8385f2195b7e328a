/** What to say about a key that no schema knows: not built yet, a slip of the pen, or nothing like it. */

import { closest, distance } from "fastest-levenshtein";

/** Keys that the design has a place for and this version has not; they must never seem to work. */
const NOT_BUILT: ReadonlySet<string> = new Set([
  "metadata",
  "limits",
  "rate_limits",
  "spend_limit",
  "cooldown",
  "tracing",
]);

const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["database_url", "is set by the environment variable DATABASE_URL"],
  ["redis_url", "is set by the environment variable REDIS_URL"],
  ["trusted_proxies", "is set as server.trusted_proxies"],
]);

export function describeUnknownKey(key: string, known: readonly string[]): string {
  const elsewhere = ELSEWHERE.get(key);
  if (elsewhere !== undefined) return elsewhere;
  if (NOT_BUILT.has(key)) return "is not built yet in this version";
  const meant = nearest(key, known);
  if (meant !== undefined) return `is not a known key; did you mean ${meant}?`;
  return known.length === 0 ? "is not a known key" : `is not a known key; known here: ${known.join(", ")}`;
}

/** The candidate that differs by a few letters at most; two letters swapped count as two. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const best = closest(word, candidates);
  const allowed = Math.max(1, Math.floor(Math.min(word.length, best.length) / 2.5));
  return distance(word, best) <= allowed ? best : undefined;
}
