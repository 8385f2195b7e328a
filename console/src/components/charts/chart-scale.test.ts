import { expect, test } from "vitest";
import { labelIndexes, linePath, runsOf, ticksUpTo } from "./chart-scale.ts";

test("chooses round ticks that reach the highest value", () => {
  expect(ticksUpTo(70)).toEqual([0, 20, 40, 60, 80]);
  expect(ticksUpTo(80)).toEqual([0, 20, 40, 60, 80]);
  expect(ticksUpTo(0.9)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(ticksUpTo(26_000_000)).toEqual([0, 10_000_000, 20_000_000, 30_000_000]);
  expect(ticksUpTo(0)).toEqual([0, 1]);
});

test("spreads labels evenly", () => {
  expect(labelIndexes(7, 10)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(labelIndexes(60, 6)).toEqual([0, 10, 20, 30, 40, 50]);
  expect(labelIndexes(0, 6)).toEqual([]);
});

test("interrupts a line at missing values", () => {
  const runs = runsOf([1, 2, null, 3], (y, x) => ({ x, y }));
  expect(runs.map(linePath)).toEqual(["M0,1L1,2", "M2,3h2"]);
});
