import type { TokenUsage } from "../../kernel/usage.ts";
import { fieldsOf, toCount } from "./usage-fields.ts";

/** Parses `usage` of Cohere's API, whose `tokens` are what the model read and wrote, and `billed_units` what is paid. */
export function parseCohereUsage(value: unknown): TokenUsage | undefined {
  const usage = fieldsOf(value);
  const billed = fieldsOf(usage.billed_units);
  const tokens = fieldsOf(usage.tokens);
  // The API's own instructions are not paid for, so what is billed is the usage.
  const promptTokens = toCount(billed.input_tokens) ?? toCount(tokens.input_tokens);
  const completionTokens = toCount(billed.output_tokens) ?? toCount(tokens.output_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const cachedTokens = Math.min(toCount(usage.cached_tokens) ?? 0, promptTokens);
  return { promptTokens, completionTokens, cachedTokens, reasoningTokens: 0, estimated: false };
}
