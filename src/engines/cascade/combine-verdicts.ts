/** Combines the verdicts of a classifier and of a guard about one input. */

import type { ModerationVerdict } from "../../contracts/moderation-model.ts";

export type Thresholds = Readonly<Record<string, number>>;

/** Scores around a threshold, in both directions, that are not sure. */
export interface Band {
  below: number;
  above: number;
  /** Distances below the threshold of single categories, which replace `below`. */
  belowByCategory: Readonly<Record<string, number>>;
}

/** Threshold for models that report none. */
const DEFAULT_THRESHOLD = 0.5;
/** Keeps the log odds of the scores 0 and 1 finite. */
const EPSILON = 1e-6;

/** True if no category is flagged with certainty and the score of at least one is within the band. */
export function isUnsure({ scores }: ModerationVerdict, thresholds: Thresholds | undefined, band: Band): boolean {
  const categories = Object.entries(scores);
  return (
    categories.every(([category, score]) => score - thresholdOf(thresholds, category) <= band.above) &&
    categories.some(([category, score]) => score >= lowerEnd(category, thresholds, band))
  );
}

/** Log odds of the category nearest to being flagged, or most clearly flagged, relative to its threshold. */
export function harmLogOdds({ scores }: Pick<ModerationVerdict, "scores">, thresholds: Thresholds | undefined): number {
  const margins = Object.entries(scores).map(
    ([category, score]) => logit(score) - logit(thresholdOf(thresholds, category)),
  );
  return margins.length === 0 ? 0 : Math.max(...margins);
}

/** Adds log odds to the scores within the band. */
export function shiftUnsureScores(
  verdict: ModerationVerdict,
  logOdds: number,
  thresholds: Thresholds | undefined,
  band: Band,
): ModerationVerdict {
  const scores: Record<string, number> = { ...verdict.scores };
  const flags: Record<string, boolean> = { ...verdict.flags };
  for (const [category, score] of Object.entries(verdict.scores)) {
    const threshold = thresholdOf(thresholds, category);
    if (score < lowerEnd(category, thresholds, band)) continue;
    const shifted = sigmoid(logit(score) + logOdds);
    scores[category] = shifted;
    flags[category] = shifted >= threshold;
  }
  return { ...verdict, scores, flags };
}

function lowerEnd(category: string, thresholds: Thresholds | undefined, band: Band): number {
  return thresholdOf(thresholds, category) - (band.belowByCategory[category] ?? band.below);
}

function thresholdOf(thresholds: Thresholds | undefined, category: string): number {
  return thresholds?.[category] ?? DEFAULT_THRESHOLD;
}

function logit(probability: number): number {
  const clamped = Math.min(Math.max(probability, EPSILON), 1 - EPSILON);
  return Math.log(clamped / (1 - clamped));
}

function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}
