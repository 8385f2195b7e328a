import { expect, test } from "vitest";
import { toDuration, toRateLimitHeaders } from "./rate-limit-headers.ts";

test.each([
  [0, "0ms"],
  [0.02, "20ms"],
  [1.2, "1.2s"],
  [59.9999, "1m0s"],
  [360, "6m0s"],
  [86_400, "24h0m0s"],
])("formats %s seconds as %s", (seconds, text) => expect(toDuration(seconds)).toBe(text));

test("omits headers of unlimited resources", () => {
  expect(toRateLimitHeaders({ tokens: { limit: 10, remaining: 4, resetSeconds: 1.5 } })).toEqual({
    "x-ratelimit-limit-tokens": "10",
    "x-ratelimit-remaining-tokens": "4",
    "x-ratelimit-reset-tokens": "1.5s",
  });
});
