/** Ten tokens of text, the end (10), two that steer, and times from 13 on: 13 is 0.00 s. */

import { expect, test } from "vitest";
import { applyRules, chooseToken } from "./next-token.ts";

const FIRST_TIME = 13;
const RULES = {
  endOfText: 10,
  firstTime: FIRST_TIME,
  suppressed: [3, 12],
  suppressedAtStart: [0, 10],
  isTime: (token: number) => token >= FIRST_TIME,
};

function allowed(tokens: number[], likely: number[] = []): number[] {
  const logits = new Float32Array(FIRST_TIME + 100);
  for (const token of likely) logits[token] = 20;
  applyRules(logits, tokens, RULES);
  return [...logits.entries()].filter(([, value]) => value !== Number.NEGATIVE_INFINITY).map(([token]) => token);
}

const texts = [0, 1, 2, 4, 5, 6, 7, 8, 9];
const from = (first: number) => Array.from({ length: FIRST_TIME + 100 - first }, (_, index) => first + index);

test("a text begins with a time in its first second", () => {
  expect(allowed([])).toEqual(from(FIRST_TIME).slice(0, 51));
});

test("after the first time comes text, and what is suppressed never comes", () => {
  expect(allowed([13])).toEqual([...texts, 10, 11]);
});

test("a segment's end is later than its beginning", () => {
  expect(allowed([15, 4], [4])).toEqual([...texts, 10, 11, ...from(16)]);
});

test("after an end come the end of all, or the next beginning, which may be the same time", () => {
  expect(allowed([13, 4, 20], [10])).toEqual([10, 11, ...from(20)]);
  expect(allowed([13, 4, 20, 20])).toEqual([...texts, 10, 11]);
});

test("times that are together likelier than any one word win", () => {
  expect(allowed([13, 4])).toEqual(from(14));
});

test("the likeliest comes at temperature 0; above it, others too", () => {
  const logits = Float32Array.of(1, 3, 2);
  expect(chooseToken(logits, 0, () => 0.99).token).toBe(1);
  expect(chooseToken(logits, 0, () => 0).logProbability).toBeCloseTo(-0.408, 2);
  expect([0.05, 0.5, 0.95].map((at) => chooseToken(logits, 1, () => at).token)).toEqual([0, 1, 2]);
});
