/** Costs of answers in the providers' dialects, worked out by hand from the figures of their price pages. */

import { describe, expect, test } from "vitest";
import { NO_USAGE, type TokenUsage } from "../../kernel/usage.ts";
import { parseAnthropicUsage } from "../../wire/usage/anthropic-usage.ts";
import { parseBedrockUsage } from "../../wire/usage/bedrock-usage.ts";
import { parseGeminiUsage } from "../../wire/usage/gemini-usage.ts";
import { parseOpenAiUsage } from "../../wire/usage/openai-usage.ts";
import { parseResponsesUsage } from "../../wire/usage/responses-usage.ts";
import { builtinPrices } from "./builtin-prices.ts";
import { costInNanoDollars } from "./cost.ts";
import { PriceList } from "./price-list.ts";

interface Case {
  provider: string;
  model: string;
  usage: TokenUsage | undefined;
  /** Page of the price, with the date on which it was read. */
  page: string;
  /** Dollars. */
  byHand: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "OpenAI, cached tokens within the prompt": {
    ...{
      provider: "openai",
      model: "gpt-5.4",
      page: "https://developers.openai.com/api/docs/pricing as transcribed by third parties, 2026-05",
    },
    usage: parseOpenAiUsage(
      {
        ...{ prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306 },
        prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 192, audio_tokens: 0 },
      },
      "default",
    ),
    // 86 × $2.50 + 1,920 × $0.25 + 300 × $15 per million.
    byHand: 0.000215 + 0.00048 + 0.0045,
  },
  "OpenAI Responses, in the priority tier": {
    ...{ provider: "openai", model: "gpt-5.5", page: "https://openai.com/api-priority-processing/, 2026-11-23" },
    usage: parseResponsesUsage({
      service_tier: "priority",
      usage: {
        ...{ input_tokens: 8438, output_tokens: 398, total_tokens: 8836 },
        input_tokens_details: { cached_tokens: 4096, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 64 },
      },
    }),
    // 4,342 × $12.50 + 4,096 × $1.25 + 398 × $75.
    byHand: 0.054275 + 0.00512 + 0.02985,
  },
  "OpenAI, a prompt above 272,000 tokens": {
    ...{ provider: "openai", model: "gpt-5.4" },
    page: "https://github.com/github/docs/blob/main/data/tables/copilot/models-and-pricing.yml, 2026-11-23",
    usage: parseOpenAiUsage({ prompt_tokens: 300_000, completion_tokens: 1_000, total_tokens: 301_000 }),
    // 300,000 × $5 + 1,000 × $22.50.
    byHand: 1.5 + 0.0225,
  },
  "Anthropic, cached and written tokens beside the input": {
    ...{ provider: "anthropic", model: "claude-sonnet-4-6" },
    page: "https://platform.claude.com/docs/en/about-claude/pricing, 2026-11-23",
    usage: parseAnthropicUsage({
      ...{ input_tokens: 2048, cache_read_input_tokens: 1800, cache_creation_input_tokens: 248, output_tokens: 503 },
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      service_tier: "standard",
    }),
    // 2,048 × $3 + 1,800 × $0.30 + 148 × $3.75 + 100 × $6 + 503 × $15.
    byHand: 0.006144 + 0.00054 + 0.000555 + 0.0006 + 0.007545,
  },
  "Anthropic, a prompt above 100,000 tokens with what the cache read": {
    ...{ provider: "anthropic", model: "claude-haiku-5-5" },
    page: "https://platform.claude.com/docs/en/models/haiku-5-5/overview, 2026-11-23",
    usage: parseAnthropicUsage({ input_tokens: 1, cache_read_input_tokens: 100_000, output_tokens: 1_000 }),
    // 1 × $0.50 + 100,000 × $0.05 + 1,000 × $2.50.
    byHand: 0.0000005 + 0.005 + 0.0025,
  },
  "Gemini, reasoning beside the completion": {
    ...{ provider: "google", model: "gemini-2.5-flash" },
    page: "https://deploybase.ai/articles/gemini-api-pricing (Google's page of March 2026), 2026-11-23",
    usage: parseOpenAiUsage({ prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 }),
    // 20 × $0.30 + 603 × $2.50.
    byHand: 0.000006 + 0.0015075,
  },
  "Gemini on Vertex AI, a prompt above 200,000 tokens with reasoning and a cache": {
    ...{ provider: "vertex", model: "gemini-2.5-pro" },
    page: "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json, 2026-10-21",
    usage: parseGeminiUsage({
      ...{ promptTokenCount: 250_000, cachedContentTokenCount: 50_000, candidatesTokenCount: 1_000 },
      ...{ thoughtsTokenCount: 3_000, totalTokenCount: 254_000 },
    }),
    // 200,000 × $2.50 + 50,000 × $0.25 + 4,000 × $15.
    byHand: 0.5 + 0.0125 + 0.06,
  },
  "Claude on Bedrock within Europe, cached tokens beside the input": {
    ...{ provider: "bedrock", model: "eu.anthropic.claude-sonnet-4-6" },
    page: "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json, 2026-10-21",
    usage: parseBedrockUsage({
      ...{ inputTokens: 1_000, outputTokens: 200, totalTokens: 1_500 },
      ...{ cacheReadInputTokens: 200, cacheWriteInputTokens: 100 },
    }),
    // 1,000 × $3.30 + 200 × $0.33 + 100 × $4.125 + 200 × $16.50.
    byHand: 0.0033 + 0.000066 + 0.0004125 + 0.0033,
  },
  "Mistral, cached tokens within the prompt": {
    ...{ provider: "mistral", model: "mistral-small-latest" },
    page: "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json, 2026-10-21",
    usage: parseOpenAiUsage({ prompt_tokens: 70, completion_tokens: 12, total_tokens: 82, num_cached_tokens: 48 }),
    // 22 × $0.15 + 48 × $0.015 + 12 × $0.60.
    byHand: 0.0000033 + 0.00000072 + 0.0000072,
  },
  "OpenAI, the flex tier": {
    ...{ provider: "openai", model: "gpt-5.5" },
    page: "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json, 2026-10-21",
    usage: parseOpenAiUsage({ prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }, "flex"),
    // 1,000 × $2.50 + 100 × $15.
    byHand: 0.0025 + 0.0015,
  },
};

describe("costs of answers by the built-in price list", () => {
  const list = new PriceList(builtinPrices());
  test.each(Object.entries(CASES))("%s", (_name, { provider, model, usage, page, byHand }) => {
    expect(page).toMatch(/^https:\/\/.+, \d{4}-\d{2}(-\d{2})?$/);
    const price = list.find(provider, model);
    if (price === undefined || usage === undefined) throw new Error("no price or no usage");
    const cost = costInNanoDollars({ price, factors: [] }, "chat", { ...NO_USAGE, ...usage });
    expect(cost).toBe(Math.round(byHand * 1e9));
  });
});
