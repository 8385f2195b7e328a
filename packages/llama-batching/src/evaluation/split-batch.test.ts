import { expect, test } from "vitest";
import { findLoneTokens } from "./split-batch.ts";

const lone = (...items: [sequenceId: number, tokens: number][]) =>
  findLoneTokens(items.map(([sequenceId, tokens]) => ({ sequenceId, tokens })));

test("finds the token of a sequence without a neighbor", () => {
  expect(lone([0, 1])).toEqual([true]);
  expect(lone([0, 1], [1, 1])).toEqual([false, false]);
  expect(lone([0, 1], [2, 1], [3, 1])).toEqual([true, false, false]);
});

test("finds the token that remains of a longer slice", () => {
  expect(lone([0, 1], [1, 2], [2, 1])).toEqual([false, true, false]);
  expect(lone([0, 1], [1, 3], [2, 1])).toEqual([false, false, false]);
  expect(lone([0, 2])).toEqual([false]);
});

test("evaluates what is left of neighbors together", () => {
  expect(lone([0, 2], [1, 2], [2, 1])).toEqual([false, false, false]);
  expect(lone([0, 2], [1, 1], [2, 2])).toEqual([true, false, true]);
});
