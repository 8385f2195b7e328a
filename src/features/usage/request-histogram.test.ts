import { expect, test } from "vitest";
import { histogramOf } from "./request-histogram.ts";
import type { MinuteSum, RequestFilter } from "./request-history.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A history with `perMinute` requests in each minute, whose driver is as synchronous as that of SQLite. */
function historyOf(perMinute: number) {
  const largest = { rows: 0, queries: 0 };
  const minutes = async (_filter: RequestFilter, from: number, until: number): Promise<MinuteSum[]> => {
    const sums: MinuteSum[] = [];
    for (let start = from; start < until; ) {
      const beginsAt = Math.floor(start / MINUTE_MS) * MINUTE_MS;
      const end = Math.min(until, beginsAt + MINUTE_MS);
      const requests = ((end - start) / MINUTE_MS) * perMinute;
      const tokens = { promptTokens: 0, completionTokens: 0, retries: 0 };
      sums.push({ beginsAt, requests, errors: 0, ...tokens });
      start = end;
    }
    largest.queries += 1;
    largest.rows = Math.max(largest.rows, ...[sums.reduce((sum, { requests }) => sum + requests, 0)]);
    return sums;
  };
  return { minutes, largest };
}

const filter = { organizationId: "org" } as RequestFilter;
const { signal } = new AbortController();

test("gives other requests a turn between slices", async () => {
  const history = historyOf(1000);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const range = { from: 0, until: 24 * HOUR_MS, buckets: 24 };
  const sums = await histogramOf(history, filter, range, signal);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(history.largest.queries - 1);
  expect(sums.map(({ requests }) => Math.round(requests))).toEqual(new Array(24).fill(60_000));
});

test.each([
  [1, 2 * HOUR_MS],
  [1000, 24 * HOUR_MS],
  [100_000, HOUR_MS],
])("reads at most some thousand of %i requests a minute by one query", async (perMinute, until) => {
  const history = historyOf(perMinute);
  await histogramOf(history, filter, { from: 0, until, buckets: 1 }, signal);
  // The first query measures the traffic by one minute.
  expect(history.largest.rows).toBeLessThanOrEqual(Math.max(5000, perMinute) + perMinute);
});
