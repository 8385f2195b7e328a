/** Vocabulary: text tokens 0 to 2, end of text 3, timestamps from 4 (0.00 s). */

import { expect, test } from "vitest";
import { sampleTranscript } from "./sample-transcript.ts";
import type { Prediction } from "./token-sampling.ts";

const END = 3;
const FIRST_TIMESTAMP = 4;
const RULES = {
  endOfText: END,
  firstTimestamp: FIRST_TIMESTAMP,
  suppressed: [],
  suppressedAtStart: [],
  isTimestamp: (token: number) => token >= FIRST_TIMESTAMP,
};

/** Probabilities of tokens 0 to 3; a timestamp is only likely at the start. */
function predict(probabilities: readonly number[], timestamp = 0): Prediction {
  const logits = probabilities.map((probability) => Math.log(probability));
  const allText = Float32Array.from(logits.slice(0, END));
  const text = [...allText].map((logit, token) => ({ token, logit })).sort((a, b) => b.logit - a.logit);
  const special = Float32Array.from([logits[END] ?? 0, Math.log(timestamp), Math.log(timestamp / 1000)]);
  return { text, textLogSum: Math.log(allText.reduce((sum, logit) => sum + Math.exp(logit), 0)), special, allText };
}

const AFTER: Readonly<Record<number, readonly number[]>> = {
  [FIRST_TIMESTAMP]: [0.7, 0.2, 0.1, 0],
  0: [0, 0, 0, 1],
  1: [0.3, 0.3, 0.4, 0],
  2: [0, 0, 0, 1],
};

/** A decoder whose next token depends on the last one; records which beams each step continues. */
function scriptedDecoder() {
  const parents: (readonly number[])[] = [];
  const state = {
    extend: async (tokens: readonly number[], from: readonly number[]) => {
      parents.push(from);
      return tokens.map((token) => predict(AFTER[token] ?? []));
    },
  };
  return { parents, state };
}

const sequence = (values: readonly number[]) => {
  const rest = [...values];
  return () => rest.shift() ?? 0.5;
};

const sample = (random: () => number, bestOf: number, signal = new AbortController().signal, maxTokens = 10) => {
  const { parents, state } = scriptedDecoder();
  const options = { temperature: 1, bestOf, random, maxTokens };
  return { parents, transcript: sampleTranscript(state, RULES, predict([0, 0, 0, 0], 1), options, signal) };
};

test("returns the likeliest of several samples and drops those that end", async () => {
  // Timestamps, then token 1 in the first sample and 0 in the second, then 2 and the end.
  const { parents, transcript } = sample(sequence([0.1, 0.1, 0.8, 0.1, 0.9, 0.5]), 2);
  expect((await transcript)?.tokens).toEqual([FIRST_TIMESTAMP, 0]);
  expect(parents).toEqual([[0, 0], [0, 1], [0]]);
});

test("returns the only sample, however unlikely", async () => {
  const { transcript } = sample(sequence([0.1, 0.8, 0.9]), 1);
  const { tokens, logProbability } = (await transcript) ?? { tokens: [], logProbability: 0 };
  expect(tokens).toEqual([FIRST_TIMESTAMP, 1, 2]);
  expect(logProbability).toBeCloseTo(Math.log(0.2 * 0.4), 2);
});

test("stops at the limit of tokens and on abort", async () => {
  const { transcript } = sample(sequence([0.1, 0.8]), 1, undefined, 2);
  expect((await transcript)?.tokens).toEqual([FIRST_TIMESTAMP, 1]);
  expect(await sample(sequence([]), 3, AbortSignal.abort()).transcript).toBeUndefined();
});
