import { expect, test } from "vitest";
import { backoffDelay } from "./backoff.ts";

test("doubles the delay with each failure, up to the maximum", () => {
  const delays = [1, 2, 3, 4, 5].map((failures) => backoffDelay(failures, { initial: 15, max: 100 }));
  expect(delays).toEqual([15, 30, 60, 100, 100]);
});

test("keeps a jittered delay within its range and spreads it", () => {
  const delays = Array.from({ length: 200 }, () => backoffDelay(3, { initial: 1, jitter: [0.5, 1] }));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(2);
  expect(Math.max(...delays)).toBeLessThanOrEqual(4);
  expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(1);
});
