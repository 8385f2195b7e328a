/**
 * Usage in the shape of OpenAI's chat completions, in the dialects of its many speakers: OpenAI, Gemini, DeepSeek,
 * Mistral, xAI, OpenRouter, LiteLLM, vLLM, llama-server and Ollama.
 */

import type { TokenUsage } from "../../kernel/usage.ts";
import { detailsOf, type Fields, fieldsOf, toCount, toNanoDollars, toServiceTier } from "./usage-fields.ts";

/** Parses a `usage` object; undefined when it has no valid counts. `serviceTier`: that of the answer around it. */
export function parseOpenAiUsage(value: unknown, serviceTier?: unknown): TokenUsage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const usage = value as Fields;
  const prompt = toCount(usage.prompt_tokens);
  const completion = toCount(usage.completion_tokens);
  if (prompt === undefined || completion === undefined) return undefined;
  const input = fieldsOf(usage.prompt_tokens_details);
  const output = fieldsOf(usage.completion_tokens_details);
  const cached = cachedTokensIn(usage, input);
  const written = toCount(input.cache_write_tokens) ?? toCount(usage.cache_creation_input_tokens) ?? 0;
  const reasoning = toCount(output.reasoning_tokens) ?? toCount(usage.reasoning_tokens) ?? 0;
  const beside = tokensBeside(usage, { prompt, completion, cached, written, reasoning });
  const promptTokens = prompt + beside.prompt;
  const cachedTokens = Math.min(cached, promptTokens);
  const cacheWriteTokens = Math.min(written, promptTokens - cachedTokens);
  const hourly = toCount(fieldsOf(usage.cache_creation).ephemeral_1h_input_tokens) ?? 0;
  const completionTokens = completion + beside.completion;
  const inputAudioTokens = Math.min(toCount(input.audio_tokens) ?? 0, promptTokens);
  const cachedAudio = toCount(fieldsOf(input.cached_tokens_details).audio_tokens) ?? 0;
  const details = detailsOf({
    cacheWriteTokens,
    cacheWriteHourTokens: Math.min(hourly, cacheWriteTokens),
    inputAudioTokens,
    cachedAudioTokens: Math.min(cachedAudio, cachedTokens, inputAudioTokens),
    inputImageTokens: Math.min(toCount(input.image_tokens) ?? 0, promptTokens),
    outputAudioTokens: Math.min(toCount(output.audio_tokens) ?? 0, completionTokens),
    outputImageTokens: Math.min(toCount(output.image_tokens) ?? 0, completionTokens),
    inputAudioSeconds: toCount(usage.prompt_audio_seconds),
    toolCalls: serverToolCalls(fieldsOf(usage.server_tool_use)),
    serviceTier: toServiceTier(serviceTier ?? usage.service_tier),
    reportedCostNanoDollars: reportedCost(usage),
  });
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens: Math.min(Math.max(reasoning, beside.completion), completionTokens),
    estimated: false,
    ...(details !== undefined && { details }),
  };
}

/** Where each dialect reports what it read from its cache. */
function cachedTokensIn(usage: Fields, input: Fields): number {
  return (
    toCount(input.cached_tokens) ??
    // DeepSeek.
    toCount(usage.prompt_cache_hit_tokens) ??
    // LiteLLM, and gateways in front of Anthropic.
    toCount(usage.cache_read_input_tokens) ??
    // Mistral and Moonshot.
    toCount(usage.num_cached_tokens) ??
    toCount(usage.cached_tokens) ??
    0
  );
}

interface Counts {
  prompt: number;
  completion: number;
  cached: number;
  written: number;
  reasoning: number;
}

/**
 * Finds tokens that the total contains, but neither the prompt nor the completion: some dialects report what they read
 * from a cache beside the prompt, and others (Gemini, xAI) what they spent on reasoning beside the completion.
 */
function tokensBeside(usage: Fields, counts: Counts): { prompt: number; completion: number } {
  const { prompt, completion, cached, written, reasoning } = counts;
  const total = toCount(usage.total_tokens);
  // More cached tokens than prompt tokens are beside it, unless the total says otherwise.
  if (total === undefined) return { prompt: cached + written > prompt ? cached + written : 0, completion: 0 };
  const surplus = total - prompt - completion;
  if (surplus <= 0) return { prompt: 0, completion: 0 };
  if (reasoning > 0 && surplus === reasoning) return { prompt: 0, completion: surplus };
  if (surplus === cached + written) return { prompt: surplus, completion: 0 };
  if (surplus === cached + written + reasoning) return { prompt: cached + written, completion: reasoning };
  return { prompt: 0, completion: surplus };
}

/** OpenRouter bills in dollars. With a key of the caller's own, `cost` is its fee and the provider bills the rest. */
function reportedCost(usage: Fields): number | undefined {
  const cost = toNanoDollars(usage.cost);
  if (cost === undefined || usage.is_byok !== true) return cost;
  return cost + (toNanoDollars(fieldsOf(usage.cost_details).upstream_inference_cost) ?? 0);
}

/** Names of the functions that a message, or a piece of one, calls. */
export function calledFunctions(message: unknown): unknown[] {
  const { tool_calls: calls } = fieldsOf(message);
  return Array.isArray(calls) ? calls.map((call) => fieldsOf(fieldsOf(call).function).name) : [];
}

/** Counts of tools that the provider ran: `web_search_requests` counts calls of `web_search`. */
export function serverToolCalls(counts: Fields): Record<string, number> | undefined {
  const calls = Object.entries(counts).flatMap(([name, value]) => {
    const count = toCount(value);
    const tool = /^([a-z][a-z_]{0,50})_requests$/.exec(name)?.[1];
    return count === undefined || count === 0 || tool === undefined ? [] : [[tool, count] as const];
  });
  return calls.length === 0 ? undefined : Object.fromEntries(calls);
}
