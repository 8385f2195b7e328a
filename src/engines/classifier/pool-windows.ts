/** Combines the outputs of the network for a text's windows into one score per category, whose threshold is 0.5. */

/** Keeps the log odds of outputs that round to 0 or 1 finite. */
const EPSILON = 1e-6;

/** A logistic model of a text of several windows, trained on documents. It has one offset per category. */
export interface WindowWeights {
  /** Weight of the log odds of the two adjacent windows with the highest mean odds. */
  pair: number;
  /** Weight of the mean log odds of all windows. */
  mean: number;
  /** Weight of the logarithm of the number of windows: the more windows, the higher the highest of a harmless text. */
  count: number;
  offsets: readonly number[];
}

/**
 * `offsets`: log odds of each category's threshold for a single window. A text whose windows are all alike scores at least
 * as one of them: the logistic model, which looks for what stands out, does not find harm from beginning to end.
 */
export function poolWindows(
  windows: readonly Float32Array[],
  offsets: readonly number[],
  weights: WindowWeights,
): Float32Array {
  if (windows.length === 0) return new Float32Array(offsets.length);
  const count = weights.count * Math.log(windows.length);
  return Float32Array.from(offsets, (offset, category) => {
    const scores = windows.map((window) => window[category] ?? 0);
    const mean = scores.reduce((sum, score) => sum + logit(score), 0) / scores.length;
    if (windows.length === 1) return sigmoid(mean - offset);
    const standsOut =
      weights.pair * highestPair(scores) + weights.mean * mean + count - (weights.offsets[category] ?? 0);
    return sigmoid(Math.max(mean - offset, standsOut));
  });
}

function highestPair(scores: readonly number[]): number {
  let highest = 0;
  for (let at = 1; at < scores.length; at += 1) {
    highest = Math.max(highest, (oddsOf(scores[at - 1] ?? 0) + oddsOf(scores[at] ?? 0)) / 2);
  }
  return Math.log(highest);
}

export function logit(score: number): number {
  return Math.log(oddsOf(score));
}

export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

function oddsOf(score: number): number {
  const bounded = Math.min(Math.max(score, EPSILON), 1 - EPSILON);
  return bounded / (1 - bounded);
}
