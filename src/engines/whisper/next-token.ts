/** Which token comes next: the rules by which times and text alternate, then the likeliest or a drawn one. */

import type { Vocabulary } from "./vocabulary.ts";

export interface Choice {
  token: number;
  logProbability: number;
}

type Rules = Pick<Vocabulary, "firstTime" | "endOfText" | "suppressed" | "suppressedAtStart" | "isTime">;

/** A text begins within its first second. */
const LATEST_START_TOKENS = 50;

/** Forbids in `logits`, in place, what may not come after `tokens`. */
export function applyRules(logits: Float32Array, tokens: readonly number[], vocabulary: Rules): void {
  const { firstTime, endOfText } = vocabulary;
  forbid(logits, vocabulary.suppressed);
  if (tokens.length === 0) {
    forbid(logits, vocabulary.suppressedAtStart);
    logits.fill(Number.NEGATIVE_INFINITY, 0, firstTime);
    logits.fill(Number.NEGATIVE_INFINITY, firstTime + LATEST_START_TOKENS + 1);
    return;
  }
  const wasTime = isTimeAt(-1);
  const wasTimeBefore = tokens.length < 2 || isTimeAt(-2);
  // Times come in pairs, an end and the next beginning, except for the last one.
  if (wasTime && wasTimeBefore) logits.fill(Number.NEGATIVE_INFINITY, firstTime);
  if (wasTime && !wasTimeBefore) logits.fill(Number.NEGATIVE_INFINITY, 0, endOfText);
  const last = tokens.findLast((token) => vocabulary.isTime(token));
  if (last !== undefined) {
    // A segment has a length; the next one may begin where it ends.
    const earliest = wasTime && !wasTimeBefore ? last : last + 1;
    logits.fill(Number.NEGATIVE_INFINITY, firstTime, earliest);
  }
  if (isTimeLikelier(logits, firstTime)) logits.fill(Number.NEGATIVE_INFINITY, 0, firstTime);

  function isTimeAt(index: number): boolean {
    return vocabulary.isTime(tokens.at(index) ?? 0);
  }
}

/** The likeliest at temperature 0, otherwise drawn. */
export function chooseToken(logits: Float32Array, temperature: number, random: () => number): Choice {
  const total = logSumExp(logits, 0, logits.length);
  const token = temperature === 0 ? indexOfGreatest(logits) : draw(logits, temperature, random());
  return { token, logProbability: (logits[token] ?? 0) - total };
}

export function probabilityOf(logits: Float32Array, token: number): number {
  return Math.exp((logits[token] ?? 0) - logSumExp(logits, 0, logits.length));
}

function forbid(logits: Float32Array, tokens: readonly number[]): void {
  for (const token of tokens) logits[token] = Number.NEGATIVE_INFINITY;
}

/** Whether all times together are likelier than any one piece of text. */
function isTimeLikelier(logits: Float32Array, firstTime: number): boolean {
  const times = logSumExp(logits, firstTime, logits.length);
  let text = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < firstTime; index += 1) text = Math.max(text, logits[index] ?? text);
  return times > text;
}

function logSumExp(logits: Float32Array, from: number, to: number): number {
  let greatest = Number.NEGATIVE_INFINITY;
  for (let index = from; index < to; index += 1) greatest = Math.max(greatest, logits[index] ?? greatest);
  if (greatest === Number.NEGATIVE_INFINITY) return greatest;
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += Math.exp((logits[index] ?? 0) - greatest);
  return greatest + Math.log(sum);
}

export function indexOfGreatest(values: ArrayLike<number>): number {
  let best = 0;
  for (let index = 1; index < values.length; index += 1) {
    if ((values[index] ?? 0) > (values[best] ?? 0)) best = index;
  }
  return best;
}

function draw(logits: Float32Array, temperature: number, at: number): number {
  const scaled = logits.map((value) => value / temperature);
  const total = logSumExp(scaled, 0, scaled.length);
  let passed = 0;
  for (let index = 0; index < scaled.length; index += 1) {
    passed += Math.exp((scaled[index] ?? 0) - total);
    if (passed > at) return index;
  }
  return indexOfGreatest(logits);
}
