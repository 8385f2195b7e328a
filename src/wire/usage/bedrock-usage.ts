import type { TokenUsage } from "../../kernel/usage.ts";
import { detailsOf, type Fields, fieldsOf, toCount } from "./usage-fields.ts";

/** Parses `usage` of Bedrock's Converse, whose `inputTokens` exclude what a cache read or wrote. */
export function parseBedrockUsage(value: unknown, serviceTier?: string): TokenUsage | undefined {
  const usage = fieldsOf(value);
  const uncached = toCount(usage.inputTokens);
  const completionTokens = toCount(usage.outputTokens);
  if (uncached === undefined || completionTokens === undefined) return undefined;
  const cachedTokens = toCount(usage.cacheReadInputTokens) ?? 0;
  const cacheWriteTokens = toCount(usage.cacheWriteInputTokens) ?? 0;
  const lifetimes: Fields[] = Array.isArray(usage.cacheDetails) ? usage.cacheDetails.map(fieldsOf) : [];
  const hourly = toCount(lifetimes.find(({ ttl }) => ttl === "1h")?.inputTokens) ?? 0;
  const details = detailsOf({
    cacheWriteTokens,
    cacheWriteHourTokens: Math.min(hourly, cacheWriteTokens),
    serviceTier,
  });
  return {
    promptTokens: uncached + cachedTokens + cacheWriteTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens: 0,
    estimated: false,
    ...(details !== undefined && { details }),
  };
}
