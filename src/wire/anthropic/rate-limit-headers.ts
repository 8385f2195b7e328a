import type { RateLimitStatus } from "../../kernel/faults.ts";

/** Renders the `anthropic-ratelimit-*` headers of the limits that apply. */
export function toRateLimitHeaders(rateLimitStatus: RateLimitStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ["requests", "tokens"] as const) {
    const left = rateLimitStatus[kind];
    if (left === undefined) continue;
    headers[`anthropic-ratelimit-${kind}-limit`] = String(left.limit);
    headers[`anthropic-ratelimit-${kind}-remaining`] = String(left.remaining);
    headers[`anthropic-ratelimit-${kind}-reset`] = new Date(Date.now() + left.resetSeconds * 1000).toISOString();
  }
  return headers;
}
