import { expect, test } from "vitest";
import { poolWindows } from "./pool-windows.ts";

const pooledBy = (factor: number, ...scores: number[]) =>
  poolWindows(
    scores.map((score) => Float32Array.of(score)),
    [factor],
  )[0];
const pool = (...scores: number[]) => pooledBy(1, ...scores);

test("keeps the score of a single window", () => {
  expect(pool(0.7)).toBeCloseTo(0.7);
  expect(poolWindows([], [1, 1])).toEqual(new Float32Array(2));
});

test("keeps the score of harm in adjacent windows, wherever they are", () => {
  expect(pool(0.01, 0.9, 0.9, 0.01)).toBeCloseTo(0.9, 5);
});

test("halves the odds of a single high window", () => {
  expect(pool(0, 0.8, 0)).toBeCloseTo(2 / 3, 5);
  expect(pool(0.8, 0, 0)).toBeCloseTo(2 / 3, 5);
  expect(pool(0.8, 0, 0.8)).toBeCloseTo(2 / 3, 5);
});

test("multiplies the odds of several windows, not those of one", () => {
  // Thresholds of 0.8 for one window and 0.5 for several: a factor of 4 moves 0.5 to 0.8.
  expect(pooledBy(4, 0.5, 0.5)).toBeCloseTo(0.8, 5);
  expect(pooledBy(4, 0.5)).toBeCloseTo(0.5, 5);
  expect(pooledBy(4, 0, 0)).toBe(0);
});

test("bounds certain scores", () => {
  expect(pool(1, 1)).toBeGreaterThan(0.99);
  expect(pool(1, 1)).toBeLessThanOrEqual(1);
});
