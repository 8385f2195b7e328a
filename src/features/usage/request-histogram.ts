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

const MINUTE = 60_000;
/** Minutes read by one query: SQLite blocks the event loop meanwhile. */
const SLICE_MS = 30 * MINUTE;

/** Sums by minute where a bucket is longer, in slices between which other requests have their turn. */
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
  for (let start = from; start < until && !signal.aborted; start += SLICE_MS) {
    for (const minute of await history.minutes(filter, start, Math.min(until, start + SLICE_MS))) {
      const at = Math.max(from, minute.beginsAt);
      const bucket = sums[Math.min(buckets - 1, Math.floor((at - from) / width))];
      if (bucket === undefined) continue;
      bucket.requests += minute.requests;
      bucket.errors += minute.errors;
    }
  }
  return sums;
}
