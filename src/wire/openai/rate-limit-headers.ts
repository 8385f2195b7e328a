import type { RateLimitStatus } from "../../kernel/faults.ts";

/** Renders the `x-ratelimit-*` headers of the limits that apply. */
export function toRateLimitHeaders(rateLimitStatus: RateLimitStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ["requests", "tokens"] as const) {
    const status = rateLimitStatus[kind];
    if (status === undefined) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(status.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(status.remaining);
    headers[`x-ratelimit-reset-${kind}`] = toDuration(status.resetSeconds);
  }
  return headers;
}

/** Formats a duration such as `20ms`, `1.2s` or `6m0s`. */
export function toDuration(seconds: number): string {
  const milliseconds = Math.ceil(seconds * 1000);
  if (milliseconds < 1000) return `${milliseconds}ms`;
  if (milliseconds < 60_000) return `${milliseconds / 1000}s`;
  const wholeSeconds = Math.ceil(milliseconds / 1000);
  const hours = Math.floor(wholeSeconds / 3600);
  const minutes = `${Math.floor((wholeSeconds % 3600) / 60)}m${wholeSeconds % 60}s`;
  return hours === 0 ? minutes : `${hours}h${minutes}`;
}
