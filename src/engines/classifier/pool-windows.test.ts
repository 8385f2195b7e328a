import { expect, test } from "vitest";
import { logit, poolWindows, sigmoid, type WindowWeights } from "./pool-windows.ts";

const PAIRS: WindowWeights = { pair: 1, mean: 0, count: 0, offsets: [0] };
const pooledBy = (weights: Partial<WindowWeights>, ...scores: number[]) =>
  poolWindows(
    scores.map((score) => Float32Array.of(score)),
    [0],
    { ...PAIRS, ...weights },
  )[0] ?? Number.NaN;
const pool = (...scores: number[]) => pooledBy({}, ...scores);

test("moves the score of a single window so that its threshold is 0.5", () => {
  expect(pool(0.7)).toBeCloseTo(0.7);
  const windows = [Float32Array.of(0.7, 0.4)];
  const weights = { ...PAIRS, offsets: [5, 5] };
  const [first = 0, second = 0] = poolWindows(windows, [logit(0.7), logit(0.8)], weights);
  expect(first).toBeCloseTo(0.5);
  expect(second).toBeLessThan(0.4);
  expect(poolWindows([], [1, 1], weights)).toEqual(new Float32Array(2));
});

test("keeps the score of harm in adjacent windows, wherever they are", () => {
  expect(pool(0.01, 0.9, 0.9, 0.01)).toBeCloseTo(0.9, 5);
});

test("halves the odds of a single high window", () => {
  expect(pool(0, 0.8, 0)).toBeCloseTo(2 / 3, 5);
  expect(pool(0.8, 0, 0)).toBeCloseTo(2 / 3, 5);
  expect(pool(0.8, 0, 0.8)).toBeCloseTo(2 / 3, 5);
});

test("reads the mean of all windows, their number and the category's offset", () => {
  expect(pooledBy({ mean: 0.5 }, 0.8, 0.8)).toBeCloseTo(sigmoid(1.5 * logit(0.8)), 5);
  expect(pooledBy({ mean: 1 }, 0.9, 0.9, 0.1, 0.1)).toBeCloseTo(0.9, 5);
  expect(pooledBy({ count: -1 }, 0.01, 0.8, 0.8)).toBeCloseTo(sigmoid(logit(0.8) - Math.log(3)), 5);
  expect(pooledBy({ offsets: [logit(0.8)] }, 0.01, 0.8, 0.8)).toBeCloseTo(0.5, 5);
});

test("scores harm from beginning to end as harm in one window", () => {
  const weights = { pair: 1.4, mean: -0.6, count: -0.7, offsets: [2] };
  expect(pooledBy(weights, 0.9, 0.9, 0.9, 0.9)).toBeCloseTo(0.9, 5);
  expect(pooledBy(weights, 0.01, 0.9, 0.9, 0.01)).toBeGreaterThan(0.5);
  expect(pooledBy(weights, 0.1, 0.2, 0.3, 0.2)).toBeLessThan(0.25);
});

test("bounds certain scores", () => {
  expect(pool(1, 1)).toBeGreaterThan(0.99);
  expect(pool(1, 1)).toBeLessThanOrEqual(1);
  expect(pool(0, 0)).toBeGreaterThanOrEqual(0);
});
