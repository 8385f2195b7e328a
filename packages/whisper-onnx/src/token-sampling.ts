/** Selects the next token: masks logits by the rules for timestamps, then takes the likeliest token or samples one. */

import type { WhisperTokenizer } from "./whisper-tokenizer.ts";

export interface SampledToken {
  token: number;
  logProbability: number;
}

type Rules = Pick<
  WhisperTokenizer,
  "firstTimestamp" | "endOfText" | "suppressed" | "suppressedAtStart" | "isTimestamp"
>;

/** The first timestamp is at most 1 s, in steps of 20 ms (max_initial_timestamp in OpenAI's implementation). */
const MAX_INITIAL_TIMESTAMP_STEPS = 50;
const NEGLIGIBLE_LOG_PROBABILITY = -20;

/** Sets the logits of tokens that may not follow `tokens` to -Infinity, in place. */
export function applyTimestampRules(logits: Float32Array, tokens: readonly number[], tokenizer: Rules): void {
  const { firstTimestamp, endOfText } = tokenizer;
  suppress(logits, tokenizer.suppressed);
  if (tokens.length === 0) {
    suppress(logits, tokenizer.suppressedAtStart);
    logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp + MAX_INITIAL_TIMESTAMP_STEPS + 1);
    return;
  }
  const lastIsTimestamp = isTimestampAt(-1);
  const secondLastIsTimestamp = tokens.length < 2 || isTimestampAt(-2);
  // Timestamps come in pairs, an end and the next start, except for the last one.
  if (lastIsTimestamp && secondLastIsTimestamp) logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp);
  if (lastIsTimestamp && !secondLastIsTimestamp) logits.fill(Number.NEGATIVE_INFINITY, 0, endOfText);
  const last = tokens.findLast((token) => tokenizer.isTimestamp(token));
  if (last !== undefined) {
    // A segment is longer than zero; the next one may start where it ends.
    const earliest = lastIsTimestamp && !secondLastIsTimestamp ? last : last + 1;
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, earliest);
  }
  if (areTimestampsLikelier(logits, firstTimestamp)) logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);

  function isTimestampAt(index: number): boolean {
    return tokenizer.isTimestamp(tokens.at(index) ?? 0);
  }
}

/** Takes the likeliest token at temperature 0 and samples above it. */
export function sampleToken(logits: Float32Array, temperature: number, random: () => number): SampledToken {
  const total = logSumExp(logits, 0, logits.length);
  const token = temperature === 0 ? argmax(logits) : sampleFrom(logits, temperature, random());
  return { token, logProbability: (logits[token] ?? 0) - total };
}

/** The `count` likeliest tokens, the likeliest first; fewer when others may not follow. */
export function topTokens(logits: Float32Array, count: number): SampledToken[] {
  const top: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < logits.length; token += 1) {
    const logit = logits[token] ?? Number.NEGATIVE_INFINITY;
    if (logit <= least) continue;
    const position = top.findIndex((other) => logit > (logits[other] ?? 0));
    top.splice(position === -1 ? top.length : position, 0, token);
    if (top.length > count) top.pop();
    if (top.length === count) least = logits[top[count - 1] ?? 0] ?? least;
  }
  const total = logSumExp(logits, 0, logits.length, logits[top[0] ?? 0]);
  return top.map((token) => ({ token, logProbability: (logits[token] ?? 0) - total }));
}

/** Returns the softmax probability of a token, 0 to 1. */
export function probabilityOf(logits: Float32Array, token: number): number {
  return Math.exp((logits[token] ?? 0) - logSumExp(logits, 0, logits.length));
}

function suppress(logits: Float32Array, tokens: readonly number[]): void {
  for (const token of tokens) logits[token] = Number.NEGATIVE_INFINITY;
}

/** Whether the timestamps together are likelier than every single text token. */
function areTimestampsLikelier(logits: Float32Array, firstTimestamp: number): boolean {
  const timestamps = logSumExp(logits, firstTimestamp, logits.length);
  return timestamps > maxOf(logits, 0, firstTimestamp);
}

function logSumExp(logits: Float32Array, from: number, to: number, max = maxOf(logits, from, to)): number {
  if (max === Number.NEGATIVE_INFINITY) return max;
  let sum = 0;
  for (let index = from; index < to; index += 1) {
    const difference = (logits[index] ?? 0) - max;
    // The exponential is the slow part. All smaller terms together change the sum by 0.0001 at most.
    if (difference > NEGLIGIBLE_LOG_PROBABILITY) sum += Math.exp(difference);
  }
  return max + Math.log(sum);
}

function maxOf(logits: Float32Array, from: number, to: number): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let index = from; index < to; index += 1) max = Math.max(max, logits[index] ?? max);
  return max;
}

/** Returns the index of the largest value, the first of equal ones. */
export function argmax(values: ArrayLike<number>): number {
  let best = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] ?? 0) > (values[best] ?? 0)) best = index;
  }
  return best;
}

function sampleFrom(logits: Float32Array, temperature: number, quantile: number): number {
  const scaled = logits.map((value) => value / temperature);
  const total = logSumExp(scaled, 0, scaled.length);
  let cumulative = 0;
  for (let index = 0; index < scaled.length; index += 1) {
    cumulative += Math.exp((scaled[index] ?? 0) - total);
    if (cumulative > quantile) return index;
  }
  return argmax(logits);
}
