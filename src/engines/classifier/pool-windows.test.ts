import { expect, test } from "vitest";
import { poolWindows } from "./pool-windows.ts";

const pool = (...scores: number[]) =>
  poolWindows(
    scores.map((score) => Float32Array.of(score)),
    1,
  )[0];

test("keeps the score of a single window", () => {
  expect(pool(0.7)).toBeCloseTo(0.7);
  expect(poolWindows([], 2)).toEqual(new Float32Array(2));
});

test("keeps the score of harm in adjacent windows, wherever they are", () => {
  expect(pool(0.01, 0.9, 0.9, 0.01)).toBeCloseTo(0.9, 5);
});

test("halves the odds of a single high window", () => {
  expect(pool(0, 0.8, 0)).toBeCloseTo(2 / 3, 5);
  expect(pool(0.8, 0, 0)).toBeCloseTo(2 / 3, 5);
  expect(pool(0.8, 0, 0.8)).toBeCloseTo(2 / 3, 5);
});

test("bounds certain scores", () => {
  expect(pool(1, 1)).toBeGreaterThan(0.99);
  expect(pool(1, 1)).toBeLessThanOrEqual(1);
});
