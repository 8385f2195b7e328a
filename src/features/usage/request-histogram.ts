/** Requests and errors by time, with the filters of the list. */

import { setImmediate as nextTurn } from "node:timers/promises";
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
/** Time read by the first query. SQLite blocks the event loop meanwhile, so further ones adapt to the traffic. */
const FIRST_SLICE_MS = MINUTE;
const MIN_SLICE_MS = 1000;
const MAX_SLICE_MS = 24 * 60 * MINUTE;
/** Requests that a query should read: some 5 ms on SQLite. */
const ROWS_PER_SLICE = 5000;

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
  let sliceMs = FIRST_SLICE_MS;
  for (let start = from; start < until && !signal.aborted; ) {
    const end = Math.min(until, start + sliceMs);
    let rows = 0;
    for (const minute of await history.minutes(filter, start, end)) {
      rows += minute.requests;
      const at = Math.max(from, minute.beginsAt);
      const bucket = sums[Math.min(buckets - 1, Math.floor((at - from) / width))];
      if (bucket === undefined) continue;
      bucket.requests += minute.requests;
      bucket.errors += minute.errors;
    }
    start = end;
    const factor = Math.min(4, ROWS_PER_SLICE / Math.max(1, rows));
    sliceMs = Math.min(MAX_SLICE_MS, Math.max(MIN_SLICE_MS, Math.floor(sliceMs * factor)));
    // The driver of SQLite is synchronous: its promises never give others a turn.
    await nextTurn();
  }
  return sums;
}
