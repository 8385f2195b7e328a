import type { UsageUpperBound } from "./quota.ts";

/** Limit for models with an unknown window. No common model writes a longer answer. */
const MAX_COMPLETION_TOKENS = 131_072;

/**
 * Limits the upper bound of each prompt and choice to the longest context window: a larger reservation would needlessly
 * refuse other requests. Undefined windows are unknown.
 */
export function limitToContextWindow(
  upperBound: UsageUpperBound,
  windows: readonly (number | undefined)[],
  { prompts = 1, choices = 1 }: { prompts?: number | undefined; choices?: number | undefined } = {},
): UsageUpperBound {
  const { promptTokens, completionTokens } = upperBound;
  const longestAnswer = Math.max(0, ...windows.map((window) => window ?? MAX_COMPLETION_TOKENS));
  const longestPrompt = Math.max(0, ...windows.map((window) => window ?? Number.POSITIVE_INFINITY));
  return {
    ...upperBound,
    promptTokens: Math.min(promptTokens, prompts * longestPrompt),
    completionTokens: completionTokens === undefined ? undefined : Math.min(completionTokens, choices * longestAnswer),
  };
}
