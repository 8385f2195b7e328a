/** Combines the scores of a text's windows, in the order of the text. */

/** Keeps the odds of scores that round to 1 finite. */
const EPSILON = 1e-6;

/**
 * Returns for each category the highest mean odds of two adjacent windows, times its factor, as a score. A single
 * suspicious window of a long harmless text loses half of its odds. The score of a single window is kept.
 */
export function poolWindows(windows: readonly Float32Array[], longFactors: readonly number[]): Float32Array {
  const pooled = new Float32Array(longFactors.length);
  if (windows.length === 1) return windows[0] ?? pooled;
  for (const [index, window] of windows.entries()) {
    const next = windows[index + 1];
    if (next === undefined) break;
    for (const [category, factor] of longFactors.entries()) {
      const odds = (factor * (oddsOf(window[category] ?? 0) + oddsOf(next[category] ?? 0))) / 2;
      pooled[category] = Math.max(pooled[category] ?? 0, odds / (1 + odds));
    }
  }
  return pooled;
}

export function oddsOf(score: number): number {
  const bounded = Math.min(score, 1 - EPSILON);
  return bounded / (1 - bounded);
}
