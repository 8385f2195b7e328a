import type { TokenUsage } from "../../kernel/usage.ts";
import { detailsOf, type Fields, fieldsOf, toCount } from "./usage-fields.ts";

/**
 * Parses `usageMetadata` of Gemini's own API, whose `candidatesTokenCount` excludes what was spent on reasoning, and whose
 * prompt excludes the results of tools that the provider ran.
 */
export function parseGeminiUsage(value: unknown): TokenUsage | undefined {
  const usage = fieldsOf(value);
  const prompt = toCount(usage.promptTokenCount);
  if (prompt === undefined) return undefined;
  const promptTokens = prompt + (toCount(usage.toolUsePromptTokenCount) ?? 0);
  const reasoningTokens = toCount(usage.thoughtsTokenCount) ?? 0;
  const cachedTokens = Math.min(toCount(usage.cachedContentTokenCount) ?? 0, promptTokens);
  const details = detailsOf({
    inputAudioTokens: Math.min(ofModality(usage.promptTokensDetails, "AUDIO"), promptTokens),
    cachedAudioTokens: Math.min(ofModality(usage.cacheTokensDetails, "AUDIO"), cachedTokens),
    inputImageTokens: Math.min(ofModality(usage.promptTokensDetails, "IMAGE"), promptTokens),
    outputAudioTokens: ofModality(usage.candidatesTokensDetails, "AUDIO"),
    outputImageTokens: ofModality(usage.candidatesTokensDetails, "IMAGE"),
  });
  return {
    promptTokens,
    completionTokens: (toCount(usage.candidatesTokenCount) ?? 0) + reasoningTokens,
    cachedTokens,
    reasoningTokens,
    estimated: false,
    ...(details !== undefined && { details }),
  };
}

function ofModality(counts: unknown, modality: string): number {
  if (!Array.isArray(counts)) return 0;
  const entries: Fields[] = counts.map(fieldsOf).filter((entry) => entry.modality === modality);
  return entries.reduce((sum, { tokenCount }) => sum + (toCount(tokenCount) ?? 0), 0);
}
