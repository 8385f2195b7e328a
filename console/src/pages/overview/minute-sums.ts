import type { Overview } from "./overview-query.ts";

type Minute = Overview["minutes"][number];

export const RECENT_MINUTES = 5;

export function totals(minutes: readonly Minute[]) {
  const sum = { requests: 0, errors: 0, input: 0, output: 0 };
  for (const minute of minutes) {
    sum.requests += minute.requests;
    sum.errors += minute.errors;
    sum.input += minute.input_tokens;
    sum.output += minute.output_tokens;
  }
  return sum;
}

/** Mean of the last complete minutes, as the chart shows them: the current minute is not over. */
export function requestsPerMinute(minutes: readonly Minute[]): number {
  return totals(minutes.slice(-RECENT_MINUTES - 1, -1)).requests / RECENT_MINUTES;
}
