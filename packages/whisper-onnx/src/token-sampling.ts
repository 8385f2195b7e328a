/** Selects the next token: applies the rules for timestamps, then takes the likeliest tokens or samples one. */

import type { WhisperTokenizer } from "./whisper-tokenizer.ts";

export interface SampledToken {
  token: number;
  logProbability: number;
}

/** Logits of the next token, as far as a search needs them. */
export interface Prediction {
  /** The likeliest text tokens, the likeliest first. */
  text: readonly { token: number; logit: number }[];
  /** Logarithm of the sum of the exponentials of all text tokens' logits. */
  textLogSum: number;
  /** Logits of the end of text and the tokens after it: special tokens and timestamps. */
  special: Float32Array;
  /** Logits of all text tokens; undefined unless requested, because they take long to copy. */
  allText: Float32Array | undefined;
}

export type Rules = Pick<
  WhisperTokenizer,
  "firstTimestamp" | "endOfText" | "suppressed" | "suppressedAtStart" | "isTimestamp"
>;

/** The first timestamp is at most 1 s, in steps of 20 ms (max_initial_timestamp in OpenAI's implementation). */
const MAX_INITIAL_TIMESTAMP_STEPS = 50;

/** Leaves out the tokens that may not follow `tokens`. Suppressed text tokens are not part of a prediction. */
export function applyTimestampRules(prediction: Prediction, tokens: readonly number[], tokenizer: Rules): Prediction {
  const { firstTimestamp, endOfText } = tokenizer;
  const special = prediction.special.slice();
  const first = firstTimestamp - endOfText;
  suppress(special, tokenizer.suppressed, endOfText);
  if (tokens.length === 0) {
    special.fill(Number.NEGATIVE_INFINITY, 0, first);
    special.fill(Number.NEGATIVE_INFINITY, first + MAX_INITIAL_TIMESTAMP_STEPS + 1);
    return withoutText(special);
  }
  const lastIsTimestamp = isTimestampAt(-1);
  const secondLastIsTimestamp = tokens.length < 2 || isTimestampAt(-2);
  // Timestamps come in pairs, an end and the next start, except for the last one.
  if (lastIsTimestamp && secondLastIsTimestamp) special.fill(Number.NEGATIVE_INFINITY, first);
  const mayBeText = !lastIsTimestamp || secondLastIsTimestamp;
  const last = tokens.findLast((token) => tokenizer.isTimestamp(token));
  if (last !== undefined) {
    // A segment is longer than zero; the next one may start where it ends.
    const earliest = mayBeText ? last + 1 : last;
    special.fill(Number.NEGATIVE_INFINITY, first, earliest - endOfText);
  }
  const allowed = mayBeText ? { ...prediction, special } : withoutText(special);
  if (!areTimestampsLikelier(allowed, first)) return allowed;
  special.fill(Number.NEGATIVE_INFINITY, 0, first);
  return withoutText(special);

  function isTimestampAt(index: number): boolean {
    return tokenizer.isTimestamp(tokens.at(index) ?? 0);
  }
}

/** The `count` likeliest tokens, the likeliest first; fewer when others may not follow. */
export function topTokens({ text, textLogSum, special }: Prediction, count: number, endOfText: number): SampledToken[] {
  const top = text.slice(0, count);
  for (const [index, logit] of special.entries()) {
    if (logit === Number.NEGATIVE_INFINITY || logit <= (top[count - 1]?.logit ?? Number.NEGATIVE_INFINITY)) continue;
    const position = top.findIndex((other) => logit > other.logit);
    top.splice(position === -1 ? top.length : position, 0, { token: endOfText + index, logit });
    if (top.length > count) top.pop();
  }
  const total = logAdd(textLogSum, logSumExp(special));
  return top.map(({ token, logit }) => ({ token, logProbability: logit - total }));
}

/** Samples one of the tokens; `prediction` has the logits of all text tokens. `quantile` is from 0 to 1. */
export function sampleToken(
  prediction: Prediction,
  temperature: number,
  quantile: number,
  endOfText: number,
): SampledToken {
  const { allText = new Float32Array(0), special, textLogSum } = prediction;
  const scaled = [allText, special].map((logits) => logits.map((logit) => logit / temperature));
  const total = scaled.map(logSumExp).reduce(logAdd);
  let cumulative = 0;
  for (const [part, logits] of scaled.entries()) {
    for (const [index, logit] of logits.entries()) {
      cumulative += Math.exp(logit - total);
      if (cumulative <= quantile) continue;
      const token = part === 0 ? index : endOfText + index;
      const logProbability = logit * temperature - logAdd(textLogSum, logSumExp(special));
      return { token, logProbability };
    }
  }
  // Rounding may leave the sum below the quantile.
  const [likeliest] = topTokens(prediction, 1, endOfText);
  return likeliest ?? { token: endOfText, logProbability: Number.NEGATIVE_INFINITY };
}

/** Returns the softmax probability of a special token, 0 to 1. */
export function probabilityOfSpecial({ special, textLogSum }: Prediction, token: number, endOfText: number): number {
  return Math.exp((special[token - endOfText] ?? 0) - logAdd(textLogSum, logSumExp(special)));
}

function withoutText(special: Float32Array): Prediction {
  return { text: [], textLogSum: Number.NEGATIVE_INFINITY, special, allText: undefined };
}

function suppress(special: Float32Array, tokens: readonly number[], endOfText: number): void {
  for (const token of tokens) if (token >= endOfText) special[token - endOfText] = Number.NEGATIVE_INFINITY;
}

/** Whether the timestamps together are likelier than every other token. */
function areTimestampsLikelier({ text, special }: Prediction, first: number): boolean {
  const others = Math.max(text[0]?.logit ?? Number.NEGATIVE_INFINITY, maxOf(special.subarray(0, first)));
  return logSumExp(special.subarray(first)) > others;
}

function logAdd(a: number, b: number): number {
  const max = Math.max(a, b);
  return max === Number.NEGATIVE_INFINITY ? max : max + Math.log(Math.exp(a - max) + Math.exp(b - max));
}

function logSumExp(logits: Float32Array): number {
  const max = maxOf(logits);
  if (max === Number.NEGATIVE_INFINITY) return max;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - max);
  return max + Math.log(sum);
}

function maxOf(logits: Float32Array): number {
  let max = Number.NEGATIVE_INFINITY;
  for (const logit of logits) max = Math.max(max, logit);
  return max;
}
