import { describe, expect, test } from "vitest";
import type { TokenUsage, UsageDetails } from "../../kernel/usage.ts";
import { parseAnthropicUsage } from "./anthropic-usage.ts";
import { parseBedrockUsage } from "./bedrock-usage.ts";
import { parseCohereUsage } from "./cohere-usage.ts";
import { parseGeminiUsage } from "./gemini-usage.ts";
import { parseOpenAiUsage } from "./openai-usage.ts";
import { parseResponsesUsage } from "./responses-usage.ts";

interface Dialect {
  /** Where the provider defines the fields. The bodies are written after them, with figures of our own. */
  source: string;
  read: () => TokenUsage | undefined;
  expected: Omit<TokenUsage, "estimated" | "details">;
  details?: UsageDetails;
}

const OPENAI_SPECIFICATION = "openai/openai-openapi, openapi.yaml of 2026-08-21";

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "Gemini's own API: reasoning is beside the candidates, results of tools beside the prompt": {
    source: "googleapis/js-genai 2.32.0, dist/genai.d.ts: GenerateContentResponseUsageMetadata",
    read: () =>
      parseGeminiUsage({
        promptTokenCount: 1000,
        cachedContentTokenCount: 400,
        candidatesTokenCount: 50,
        thoughtsTokenCount: 30,
        toolUsePromptTokenCount: 20,
        totalTokenCount: 1100,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 642 },
          { modality: "IMAGE", tokenCount: 258 },
          { modality: "AUDIO", tokenCount: 100 },
        ],
        cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 60 }],
      }),
    expected: { promptTokens: 1020, cachedTokens: 400, completionTokens: 80, reasoningTokens: 30 },
    details: { inputAudioTokens: 100, cachedAudioTokens: 60, inputImageTokens: 258 },
  },
  "Bedrock Converse: cached and written tokens are beside the input": {
    source: "@aws-sdk/client-bedrock-runtime 3.1164.0, dist-types/models/models_0.d.ts: TokenUsage",
    read: () =>
      parseBedrockUsage(
        {
          inputTokens: 40,
          outputTokens: 25,
          totalTokens: 115,
          cacheReadInputTokens: 30,
          cacheWriteInputTokens: 20,
          cacheDetails: [
            { ttl: "1h", inputTokens: 15 },
            { ttl: "5m", inputTokens: 5 },
          ],
        },
        "priority",
      ),
    expected: { promptTokens: 90, cachedTokens: 30, completionTokens: 25, reasoningTokens: 0 },
    details: { cacheWriteTokens: 20, cacheWriteHourTokens: 15, serviceTier: "priority" },
  },
  "Cohere's own API: what is billed, without the API's own instructions": {
    source: "cohere-ai 8.1.0, dist/api/types/Usage.d.ts",
    read: () =>
      parseCohereUsage({
        billed_units: { input_tokens: 90, output_tokens: 25 },
        tokens: { input_tokens: 156, output_tokens: 27 },
        cached_tokens: 30,
      }),
    expected: { promptTokens: 90, cachedTokens: 30, completionTokens: 25, reasoningTokens: 0 },
  },
  "OpenAI chat completions: cached and written tokens are part of the prompt, reasoning of the completion": {
    source: `${OPENAI_SPECIFICATION}: CompletionUsage`,
    read: () =>
      parseOpenAiUsage(
        {
          prompt_tokens: 2006,
          completion_tokens: 300,
          total_tokens: 2306,
          prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0, cache_write_tokens: 512 },
          completion_tokens_details: { reasoning_tokens: 192, audio_tokens: 0, accepted_prediction_tokens: 0 },
        },
        "flex",
      ),
    expected: { promptTokens: 2006, cachedTokens: 1024, completionTokens: 300, reasoningTokens: 192 },
    details: { cacheWriteTokens: 512, serviceTier: "flex" },
  },
  "OpenAI chat completions: audio in and out": {
    source: `${OPENAI_SPECIFICATION}: CompletionUsage`,
    read: () =>
      parseOpenAiUsage(
        {
          prompt_tokens: 120,
          completion_tokens: 80,
          total_tokens: 200,
          prompt_tokens_details: { cached_tokens: 0, audio_tokens: 100, text_tokens: 20 },
          completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 60, text_tokens: 20 },
        },
        "default",
      ),
    expected: { promptTokens: 120, cachedTokens: 0, completionTokens: 80, reasoningTokens: 0 },
    details: { inputAudioTokens: 100, outputAudioTokens: 60 },
  },
  "OpenAI Responses: calls of built-in tools are items of the output": {
    source: `${OPENAI_SPECIFICATION}: ResponseUsage, WebSearchToolCall`,
    read: () =>
      parseResponsesUsage({
        service_tier: "priority",
        output: [
          { type: "web_search_call" },
          { type: "web_search_call" },
          { type: "function_call" },
          { type: "message" },
        ],
        usage: {
          input_tokens: 8438,
          input_tokens_details: { cached_tokens: 4096, cache_write_tokens: 2048 },
          output_tokens: 398,
          output_tokens_details: { reasoning_tokens: 64 },
          total_tokens: 8836,
        },
      }),
    expected: { promptTokens: 8438, cachedTokens: 4096, completionTokens: 398, reasoningTokens: 64 },
    details: { cacheWriteTokens: 2048, toolCalls: { web_search: 2 }, serviceTier: "priority" },
  },
  "Anthropic: cached and written tokens are beside the input, written ones by lifetime": {
    source: "platform.claude.com/docs/en/build-with-claude/prompt-caching (usage of a response)",
    read: () =>
      parseAnthropicUsage({
        input_tokens: 2048,
        cache_read_input_tokens: 1800,
        cache_creation_input_tokens: 248,
        cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
        output_tokens: 503,
        server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
        service_tier: "standard",
      }),
    expected: { promptTokens: 4096, cachedTokens: 1800, completionTokens: 503, reasoningTokens: 0 },
    details: { cacheWriteTokens: 248, cacheWriteHourTokens: 100, toolCalls: { web_search: 3 } },
  },
  "Anthropic: a batch": {
    source: "platform.claude.com/docs/en/build-with-claude/batch-processing",
    read: () =>
      parseAnthropicUsage({
        input_tokens: 11,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        output_tokens: 36,
        service_tier: "batch",
      }),
    expected: { promptTokens: 11, cachedTokens: 0, completionTokens: 36, reasoningTokens: 0 },
    details: { serviceTier: "batch" },
  },
  "Gemini: reasoning is beside the completion, in the total only": {
    source: "mozilla-ai/any-llm issue 1290: prompt 20, candidates 198, thoughts 405, total 623",
    read: () => parseOpenAiUsage({ prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 }),
    expected: { promptTokens: 20, cachedTokens: 0, completionTokens: 603, reasoningTokens: 405 },
  },
  "Gemini behind a converter: reasoning is reported, and beside the completion": {
    source: "router-for-me/CLIProxyAPI issue 5733",
    read: () =>
      parseOpenAiUsage({
        completion_tokens: 0,
        total_tokens: 81,
        prompt_tokens: 21,
        completion_tokens_details: { reasoning_tokens: 60 },
      }),
    expected: { promptTokens: 21, cachedTokens: 0, completionTokens: 60, reasoningTokens: 60 },
  },
  "DeepSeek: hits and misses of the cache": {
    source: "api-docs.deepseek.com/api/create-chat-completion: usage",
    read: () =>
      parseOpenAiUsage({
        completion_tokens: 110,
        prompt_tokens: 1000,
        prompt_cache_hit_tokens: 640,
        prompt_cache_miss_tokens: 360,
        total_tokens: 1110,
        completion_tokens_details: { reasoning_tokens: 100 },
      }),
    expected: { promptTokens: 1000, cachedTokens: 640, completionTokens: 110, reasoningTokens: 100 },
  },
  "Mistral: cached tokens beside the details, and seconds of audio": {
    source: "mistralai/client-python, models/usageinfo.py",
    read: () =>
      parseOpenAiUsage({
        prompt_tokens: 70,
        completion_tokens: 12,
        total_tokens: 82,
        num_cached_tokens: 48,
        prompt_audio_seconds: 5,
      }),
    expected: { promptTokens: 70, cachedTokens: 48, completionTokens: 12, reasoningTokens: 0 },
    details: { inputAudioSeconds: 5 },
  },
  "xAI: reasoning is reported, and beside the completion": {
    source: "docs.x.ai/docs/guides/reasoning: usage of a response",
    read: () =>
      parseOpenAiUsage({
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 135,
        prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
        completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
      }),
    expected: { promptTokens: 32, cachedTokens: 6, completionTokens: 103, reasoningTokens: 94 },
  },
  "OpenRouter: its own cost, and tokens written to a cache": {
    source: "openrouter.ai/docs/use-cases/usage-accounting",
    read: () =>
      parseOpenAiUsage({
        completion_tokens: 2,
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.95,
        cost_details: { upstream_inference_cost: 19 },
        prompt_tokens: 194,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 100, audio_tokens: 0 },
        total_tokens: 196,
      }),
    expected: { promptTokens: 194, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 },
    details: { cacheWriteTokens: 100, reportedCostNanoDollars: 950_000_000 },
  },
  "OpenRouter with the caller's own key: the fee and the provider's bill": {
    source: "openrouter.ai/docs/use-cases/usage-accounting",
    read: () =>
      parseOpenAiUsage({
        prompt_tokens: 194,
        completion_tokens: 2,
        total_tokens: 196,
        cost: 0.001,
        is_byok: true,
        cost_details: { upstream_inference_cost: 0.02 },
      }),
    expected: { promptTokens: 194, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 },
    details: { reportedCostNanoDollars: 21_000_000 },
  },
  "LiteLLM in front of Anthropic: Anthropic's fields, within the prompt": {
    source: "BerriAI/litellm, litellm/types/utils.py: Usage",
    read: () =>
      parseOpenAiUsage({
        prompt_tokens: 4096,
        completion_tokens: 503,
        total_tokens: 4599,
        cache_read_input_tokens: 1800,
        cache_creation_input_tokens: 248,
        prompt_tokens_details: { audio_tokens: null, cached_tokens: 1800 },
        server_tool_use: { web_search_requests: 1 },
      }),
    expected: { promptTokens: 4096, cachedTokens: 1800, completionTokens: 503, reasoningTokens: 0 },
    details: { cacheWriteTokens: 248, toolCalls: { web_search: 1 } },
  },
  "a gateway in front of Anthropic that keeps cached tokens beside the prompt": {
    source: "Anthropic's `input_tokens` as `prompt_tokens`, the total with what the cache read and wrote",
    read: () =>
      parseOpenAiUsage({
        prompt_tokens: 2048,
        completion_tokens: 503,
        total_tokens: 4599,
        cache_read_input_tokens: 1800,
        cache_creation_input_tokens: 248,
      }),
    expected: { promptTokens: 4096, cachedTokens: 1800, completionTokens: 503, reasoningTokens: 0 },
    details: { cacheWriteTokens: 248 },
  },
  "vLLM: details are null unless it is asked for them": {
    source: "vllm-project/vllm, vllm/entrypoints/openai/protocol.py: UsageInfo",
    read: () =>
      parseOpenAiUsage({ prompt_tokens: 34, total_tokens: 58, completion_tokens: 24, prompt_tokens_details: null }),
    expected: { promptTokens: 34, cachedTokens: 0, completionTokens: 24, reasoningTokens: 0 },
  },
  "vLLM with --enable-prompt-tokens-details": {
    source: "vllm-project/vllm, vllm/entrypoints/openai/protocol.py: PromptTokenUsageInfo",
    read: () =>
      parseOpenAiUsage({
        prompt_tokens: 34,
        total_tokens: 58,
        completion_tokens: 24,
        prompt_tokens_details: { cached_tokens: 16 },
      }),
    expected: { promptTokens: 34, cachedTokens: 16, completionTokens: 24, reasoningTokens: 0 },
  },
  "llama-server": {
    source: "ggml-org/llama.cpp, tools/server: usage of a chat completion",
    read: () =>
      parseOpenAiUsage({
        completion_tokens: 12,
        prompt_tokens: 44,
        total_tokens: 56,
        prompt_tokens_details: { cached_tokens: 43 },
      }),
    expected: { promptTokens: 44, cachedTokens: 43, completionTokens: 12, reasoningTokens: 0 },
  },
  Ollama: {
    source: "ollama/ollama, openai/openai.go: Usage",
    read: () => parseOpenAiUsage({ prompt_tokens: 26, completion_tokens: 298, total_tokens: 324 }),
    expected: { promptTokens: 26, cachedTokens: 0, completionTokens: 298, reasoningTokens: 0 },
  },
};

describe("reads the usage of", () => {
  test.each(Object.entries(DIALECTS))("%s", (_name, { read, expected, details }) => {
    expect(read()).toEqual({ ...expected, estimated: false, ...(details !== undefined && { details }) });
  });
});

const usage = { prompt_tokens: 10, completion_tokens: 5 };

test("limits cached tokens to the prompt's tokens where the total says so, so that costs stay non-negative", () => {
  const within = { ...usage, total_tokens: 15, prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 7 } };
  expect(parseOpenAiUsage(within)).toMatchObject({ promptTokens: 10, cachedTokens: 10 });
  const beside = { ...usage, prompt_tokens_details: { cached_tokens: 400 } };
  expect(parseOpenAiUsage(beside)).toMatchObject({ promptTokens: 410, cachedTokens: 400 });
});

test.each([3_000_000_000, -1, 1.5, "10", null])("treats %j tokens as missing", (tokens) => {
  expect(parseOpenAiUsage({ ...usage, prompt_tokens: tokens })).toBeUndefined();
  expect(parseOpenAiUsage({ ...usage, completion_tokens: tokens })).toBeUndefined();
  expect(parseAnthropicUsage({ input_tokens: tokens, output_tokens: 1 })).toBeUndefined();
  expect(parseResponsesUsage({ usage: { input_tokens: 1, output_tokens: tokens } })).toBeUndefined();
});

test.each([-1, Number.NaN, "", "much", 1e9, {}])("ignores %j as a provider's cost", (cost) => {
  expect(parseOpenAiUsage({ ...usage, cost })?.details).toBeUndefined();
});

test("keeps a provider's cost of 0, which is a statement", () => {
  expect(parseOpenAiUsage({ ...usage, cost: 0 })?.details).toEqual({ reportedCostNanoDollars: 0 });
});

test.each(["default", "standard", "auto", "A tier", 7])("records no tier for %j", (tier) => {
  expect(parseOpenAiUsage(usage, tier)?.details).toBeUndefined();
});
