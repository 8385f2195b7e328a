import type { UsageUpperBound } from "../quota/quota.ts";

/** For models whose window is unknown. No common model writes a longer answer. */
const MAX_COMPLETION_TOKENS = 131_072;

/**
 * Lowers what a chat can use to the longest of the context windows, each choice on its own: more would be reserved in
 * vain, and refuse others. Undefined windows are unknown.
 */
export function limitToContextWindow(
  upperBound: UsageUpperBound,
  windows: readonly (number | undefined)[],
  choices = 1,
): UsageUpperBound {
  const { promptTokens, completionTokens } = upperBound;
  const longestAnswer = Math.max(0, ...windows.map((window) => window ?? MAX_COMPLETION_TOKENS));
  const longestPrompt = Math.max(0, ...windows.map((window) => window ?? Number.POSITIVE_INFINITY));
  return {
    ...upperBound,
    promptTokens: Math.min(promptTokens, longestPrompt),
    completionTokens: completionTokens === undefined ? undefined : Math.min(completionTokens, choices * longestAnswer),
  };
}
