/** Requests and errors by time, with the filters of the list. */

import type { RequestFilter, RequestHistory } from "./request-history.ts";

interface HistogramRange {
  /** Epoch milliseconds. */
  from: number;
  until: number;
  buckets: number;
}

interface HistogramBucket {
  beginsAt: number;
  requests: number;
  errors: number;
}

/** Sums by minute where a bucket is longer. */
export async function histogramOf(
  history: Pick<RequestHistory, "minutes">,
  filter: RequestFilter,
  { from, until, buckets }: HistogramRange,
  signal: AbortSignal,
): Promise<HistogramBucket[]> {
  const width = (until - from) / buckets;
  const sums = Array.from({ length: buckets }, (_each, index) => ({
    beginsAt: Math.round(from + index * width),
    requests: 0,
    errors: 0,
  }));
  for await (const minute of history.minutes(filter, from, until)) {
    if (signal.aborted) break;
    const at = Math.max(from, minute.beginsAt);
    const bucket = sums[Math.min(buckets - 1, Math.floor((at - from) / width))];
    if (bucket === undefined) continue;
    bucket.requests += minute.requests;
    bucket.errors += minute.errors;
  }
  return sums;
}
