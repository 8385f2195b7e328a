import type { TokenUsage } from "../../kernel/usage.ts";
import { countCalls, detailsOf, type Fields, fieldsOf, toCount, toNanoDollars, toServiceTier } from "./usage-fields.ts";

/** Parses `usage` of a response of the Responses API. Calls of built-in tools are items of its `output`. */
export function parseResponsesUsage(response: Fields): TokenUsage | undefined {
  const usage = fieldsOf(response.usage);
  const promptTokens = toCount(usage.input_tokens);
  const completionTokens = toCount(usage.output_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const input = fieldsOf(usage.input_tokens_details);
  const cachedTokens = Math.min(toCount(input.cached_tokens) ?? 0, promptTokens);
  const written = toCount(input.cache_write_tokens) ?? 0;
  const reasoning = toCount(fieldsOf(usage.output_tokens_details).reasoning_tokens) ?? 0;
  const details = detailsOf({
    cacheWriteTokens: Math.min(written, promptTokens - cachedTokens),
    toolCalls: builtinToolCalls(response.output),
    functionCalls: functionCalls(response.output),
    serviceTier: toServiceTier(response.service_tier),
    reportedCostNanoDollars: toNanoDollars(usage.cost),
  });
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens: Math.min(reasoning, completionTokens),
    estimated: false,
    ...(details !== undefined && { details }),
  };
}

function functionCalls(output: unknown): Record<string, number> | undefined {
  if (!Array.isArray(output)) return undefined;
  const items = output.map(fieldsOf).filter(({ type }) => type === "function_call" || type === "custom_tool_call");
  return countCalls(items.map(({ name }) => name));
}

/** Tools that the provider runs; calls of functions and custom tools run at the client. */
const BUILTIN_CALL = /^(web_search|file_search|code_interpreter|image_generation|computer|mcp)_call$/;

function builtinToolCalls(output: unknown): Record<string, number> | undefined {
  if (!Array.isArray(output)) return undefined;
  const calls: Record<string, number> = {};
  for (const item of output) {
    const tool = BUILTIN_CALL.exec(String(fieldsOf(item).type))?.[1];
    if (tool !== undefined) calls[tool] = (calls[tool] ?? 0) + 1;
  }
  return Object.keys(calls).length === 0 ? undefined : calls;
}
