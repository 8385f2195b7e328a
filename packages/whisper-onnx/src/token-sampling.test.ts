/** Vocabulary: text tokens 0 to 9, end of text 10, special tokens 11 and 12, timestamps from 13 (0.00 s). */

import { expect, test } from "vitest";
import {
  applyTimestampRules,
  type Prediction,
  probabilityOfSpecial,
  sampleToken,
  topTokens,
} from "./token-sampling.ts";

const END = 10;
const FIRST_TIMESTAMP = 13;
const RULES = {
  endOfText: END,
  firstTimestamp: FIRST_TIMESTAMP,
  suppressed: [3, 12],
  suppressedAtStart: [0, 10],
  isTimestamp: (token: number) => token >= FIRST_TIMESTAMP,
};

/** The network leaves out suppressed text tokens. */
function predict(logits: Float32Array, suppressed: readonly number[] = []): Prediction {
  const allText = logits.slice(0, END);
  for (const token of suppressed) if (token < END) allText[token] = Number.NEGATIVE_INFINITY;
  const text = [...allText].map((logit, token) => ({ token, logit })).sort((a, b) => b.logit - a.logit);
  const textLogSum = Math.log(allText.reduce((sum, logit) => sum + Math.exp(logit), 0));
  const isPossible = ({ logit }: { logit: number }) => logit !== Number.NEGATIVE_INFINITY;
  return { text: text.filter(isPossible), textLogSum, special: logits.slice(END), allText };
}

function allowed(tokens: number[], likely: number[] = []): number[] {
  const logits = new Float32Array(FIRST_TIMESTAMP + 100);
  for (const token of likely) logits[token] = 20;
  const prediction = applyTimestampRules(predict(logits, RULES.suppressed), tokens, RULES);
  return topTokens(prediction, logits.length, END)
    .map(({ token }) => token)
    .sort((a, b) => a - b);
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

/** Logits of tokens of the text and from the end of text on. */
const mixed = (text: number[], special: number[]) => {
  const none = Array.from({ length: END - text.length }, () => Number.NEGATIVE_INFINITY);
  return predict(Float32Array.of(...text, ...none, ...special));
};

test("samples in proportion to the probabilities at the temperature", () => {
  const prediction = mixed([1, 3], [2]);
  const sampled = (temperature: number) => [0.05, 0.5, 0.95].map((at) => sampleToken(prediction, temperature, at, END));
  expect(sampled(1).map(({ token }) => token)).toEqual([0, 1, END]);
  expect(sampled(0.1).map(({ token }) => token)).toEqual([1, 1, 1]);
  expect(sampled(1)[1]?.logProbability).toBeCloseTo(-0.408, 2);
  expect(sampled(0.1)[1]?.logProbability).toBeCloseTo(-0.408, 2);
});

test("returns the most likely tokens of text and special tokens in order, without those that may not follow", () => {
  const prediction = mixed([1, 3, Number.NEGATIVE_INFINITY, 2], [2.5, Number.NEGATIVE_INFINITY]);
  const top = (count: number) => topTokens(prediction, count, END).map(({ token }) => token);
  expect(top(3)).toEqual([1, END, 3]);
  expect(top(9)).toEqual([1, END, 3, 0]);
  const total = Math.log(Math.exp(1) + Math.exp(3) + Math.exp(2) + Math.exp(2.5));
  expect(topTokens(prediction, 1, END)[0]?.logProbability).toBeCloseTo(3 - total, 5);
  expect(probabilityOfSpecial(prediction, END, END)).toBeCloseTo(Math.exp(2.5 - total), 5);
});
