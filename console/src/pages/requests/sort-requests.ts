import type { RequestEntry } from "./requests-api.ts";

const VALUES = {
  first: ({ first_token_ms }) => first_token_ms,
  duration: ({ duration_ms }) => duration_ms,
  tokens: ({ input_tokens, output_tokens }) => (input_tokens === null ? null : input_tokens + (output_tokens ?? 0)),
  cost: ({ cost_usd }) => cost_usd,
} as const satisfies Record<string, (entry: RequestEntry) => number | null>;

export type SortKey = keyof typeof VALUES;

/** Sorts by `duration` or `-duration` and the like; anything else leaves the newest first. */
export function sorted(entries: RequestEntry[], sort: string): RequestEntry[] {
  const metricOf = VALUES[sort.replace(/^-/, "") as SortKey];
  if (metricOf === undefined) return entries;
  const sign = sort.startsWith("-") ? -1 : 1;
  // Requests without the value stand last in both orders.
  const keyOf = (entry: RequestEntry) => metricOf(entry) ?? sign * Number.POSITIVE_INFINITY;
  return entries.toSorted((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x === y ? 0 : sign * (x < y ? -1 : 1);
  });
}
