/** Messages for keys that no schema knows: renamed, set elsewhere, not implemented or misspelled. */

import { nearest } from "../kernel/nearest.ts";

/** Planned keys, whose separate message prevents them from being taken for misspellings. */
const NOT_IMPLEMENTED: ReadonlySet<string> = new Set([
  "metadata",
  "limits",
  "rate_limits",
  "spend_limit",
  "cooldown",
  "tracing",
]);

const SET_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["database_url", "is set by the environment variable DATABASE_URL"],
  ["redis_url", "is set by the environment variable REDIS_URL"],
  ["trusted_proxies", "is set as server.trusted_proxies"],
]);

const RENAMED: ReadonlyMap<string, string> = new Map([
  ["rest_seconds", "cooldown_seconds"],
  ["reuses_prefixes", "prefix_caching"],
  ["when_counters_away", "on_counters_unavailable"],
]);

/** Returns the message for an unknown key, which follows its path. `known`: keys that are valid at this place. */
export function describeUnknownKey(key: string, known: readonly string[]): string {
  const elsewhere = SET_ELSEWHERE.get(key);
  if (elsewhere !== undefined) return elsewhere;
  const renamed = RENAMED.get(key);
  if (renamed !== undefined && known.includes(renamed)) return `was renamed to ${renamed}`;
  if (NOT_IMPLEMENTED.has(key)) return "is not implemented in this version";
  const meant = nearest(key, known);
  if (meant !== undefined) return `is not a known key; did you mean ${meant}?`;
  return known.length === 0 ? "is not a known key" : `is not a known key; known here: ${known.join(", ")}`;
}
