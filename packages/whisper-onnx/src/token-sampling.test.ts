/** Vocabulary: text tokens 0 to 9, end of text 10, special tokens 11 and 12, timestamps from 13 (0.00 s). */

import { expect, test } from "vitest";
import { applyTimestampRules, sampleToken, topTokens } from "./token-sampling.ts";

const FIRST_TIMESTAMP = 13;
const RULES = {
  endOfText: 10,
  firstTimestamp: FIRST_TIMESTAMP,
  suppressed: [3, 12],
  suppressedAtStart: [0, 10],
  isTimestamp: (token: number) => token >= FIRST_TIMESTAMP,
};

function allowed(tokens: number[], likely: number[] = []): number[] {
  const logits = new Float32Array(FIRST_TIMESTAMP + 100);
  for (const token of likely) logits[token] = 20;
  applyTimestampRules(logits, tokens, RULES);
  return [...logits.entries()].filter(([, value]) => value !== Number.NEGATIVE_INFINITY).map(([token]) => token);
}

const texts = [0, 1, 2, 4, 5, 6, 7, 8, 9];
const from = (first: number) => Array.from({ length: FIRST_TIMESTAMP + 100 - first }, (_, index) => first + index);

test("starts with a timestamp of at most one second", () => {
  expect(allowed([])).toEqual(from(FIRST_TIMESTAMP).slice(0, 51));
});

test("allows text after the first timestamp and never suppressed tokens", () => {
  expect(allowed([13])).toEqual([...texts, 10, 11]);
});

test("requires a segment to end after its start", () => {
  expect(allowed([15, 4], [4])).toEqual([...texts, 10, 11, ...from(16)]);
});

test("allows the end of text or the next start after an end timestamp", () => {
  expect(allowed([13, 4, 20], [10])).toEqual([10, 11, ...from(20)]);
  expect(allowed([13, 4, 20, 20])).toEqual([...texts, 10, 11]);
});

test("forces a timestamp when all timestamps together are more likely than any text token", () => {
  expect(allowed([13, 4])).toEqual(from(14));
});

test("selects the most likely token at temperature 0 and samples above it", () => {
  const logits = Float32Array.of(1, 3, 2);
  expect(sampleToken(logits, 0, () => 0.99).token).toBe(1);
  expect(sampleToken(logits, 0, () => 0).logProbability).toBeCloseTo(-0.408, 2);
  expect([0.05, 0.5, 0.95].map((at) => sampleToken(logits, 1, () => at).token)).toEqual([0, 1, 2]);
});

test("returns the most likely tokens in order, without those that may not follow", () => {
  const logits = Float32Array.of(1, 3, Number.NEGATIVE_INFINITY, 2, 3);
  expect(topTokens(logits, 3).map(({ token }) => token)).toEqual([1, 4, 3]);
  expect(topTokens(logits, 5).map(({ token }) => token)).toEqual([1, 4, 3, 0]);
  expect(topTokens(logits, 1)[0]?.logProbability).toBeCloseTo(sampleToken(logits, 0, () => 0).logProbability, 6);
});
