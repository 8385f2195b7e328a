import type { TokenUsage } from "../../kernel/usage.ts";
import { serverToolCalls } from "./openai-usage.ts";
import { detailsOf, type Fields, fieldsOf, toCount, toServiceTier } from "./usage-fields.ts";

/** Parses `usage` of Anthropic's Messages API, whose `input_tokens` exclude what a cache read or wrote. */
export function parseAnthropicUsage(usage: Fields): TokenUsage | undefined {
  const uncached = toCount(usage.input_tokens);
  const completionTokens = toCount(usage.output_tokens);
  if (uncached === undefined || completionTokens === undefined) return undefined;
  const cachedTokens = toCount(usage.cache_read_input_tokens) ?? 0;
  const lifetimes = fieldsOf(usage.cache_creation);
  const hourly = toCount(lifetimes.ephemeral_1h_input_tokens) ?? 0;
  const byLifetime = hourly + (toCount(lifetimes.ephemeral_5m_input_tokens) ?? 0);
  const cacheWriteTokens = toCount(usage.cache_creation_input_tokens) ?? byLifetime;
  const thinking = toCount(fieldsOf(usage.output_tokens_details).thinking_tokens) ?? 0;
  const details = detailsOf({
    cacheWriteTokens,
    cacheWriteHourTokens: Math.min(hourly, cacheWriteTokens),
    toolCalls: serverToolCalls(fieldsOf(usage.server_tool_use)),
    serviceTier: toServiceTier(usage.service_tier),
  });
  return {
    promptTokens: uncached + cachedTokens + cacheWriteTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens: Math.min(thinking, completionTokens),
    estimated: false,
    ...(details !== undefined && { details }),
  };
}
