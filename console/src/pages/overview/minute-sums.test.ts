import { expect, test } from "vitest";
import { requestsPerMinute, totals } from "./minute-sums.ts";

const minute = (requests: number) => ({
  ...{ start_time: 0, requests, errors: 1, input_tokens: 2, output_tokens: 3, retries: 0 },
  first_token_ms: { p50: null, p95: null },
});

test("averages the five complete minutes before the current one", () => {
  expect(requestsPerMinute([100, 4, 4, 4, 4, 4, 1].map(minute))).toBe(4);
  expect(requestsPerMinute([100, 1, 2, 3, 4, 5, 0].map(minute))).toBe(3);
});

test("sums minutes", () => {
  expect(totals([minute(1), minute(2)])).toEqual({ requests: 3, errors: 2, input: 4, output: 6 });
});
