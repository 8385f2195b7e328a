import type { ModerationVerdict } from "../../contracts/moderation-model.ts";

/**
 * Merges two verdicts: the higher score in each category, flagged if either is. An upstream may use different
 * categories for each.
 */
export function mergeVerdicts(one: ModerationVerdict | undefined, other: ModerationVerdict): ModerationVerdict {
  if (one === undefined) return other;
  const categories = [...new Set([one, other].flatMap(({ scores, flags }) => Object.keys({ ...scores, ...flags })))];
  const every = <Value>(of: (category: string) => Value) =>
    Object.fromEntries(categories.map((category) => [category, of(category)]));
  const unsupportedLanguage = one.unsupportedLanguage ?? other.unsupportedLanguage;
  return {
    scores: every((category) => Math.max(one.scores[category] ?? 0, other.scores[category] ?? 0)),
    flags: every((category) => one.flags[category] === true || other.flags[category] === true),
    appliedTo: every((category) => other.appliedTo[category] ?? one.appliedTo[category] ?? []),
    ...(unsupportedLanguage !== undefined && { unsupportedLanguage }),
  };
}
