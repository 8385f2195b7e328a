import type { RateLimitStatus } from "../../kernel/faults.ts";

/** Renders the `anthropic-ratelimit-*` headers of the limits that apply. */
export function toRateLimitHeaders(rateLimitStatus: RateLimitStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ["requests", "tokens"] as const) {
    const status = rateLimitStatus[kind];
    if (status === undefined) continue;
    headers[`anthropic-ratelimit-${kind}-limit`] = String(status.limit);
    headers[`anthropic-ratelimit-${kind}-remaining`] = String(status.remaining);
    headers[`anthropic-ratelimit-${kind}-reset`] = new Date(Date.now() + status.resetSeconds * 1000).toISOString();
  }
  return headers;
}
