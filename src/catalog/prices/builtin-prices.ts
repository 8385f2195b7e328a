/**
 * Public prices of well-known models, in US dollars per million tokens. Each row names where it was read and when, often
 * in a stored copy that is older; some sources are not the provider's own. Prices without a source are left out. All rows
 * of Anthropic, OpenAI and Google, except for claude-opus-4-1, agree with `LITELLM_PRICES`.
 * Providers change them without notice, so a configured price takes precedence.
 */

import { PRICE_UNITS, type Price, type PriceUnit } from "../../contracts/price.ts";
import { BEDROCK_PRICES } from "./bedrock-prices.ts";
import { type BuiltinPrice, claude, LITELLM_PRICES, type PerMillion } from "./builtin-price.ts";
import { toDecimal } from "./decimal.ts";
import type { PriceListEntry } from "./price-list.ts";

const ANTHROPIC = { provider: "anthropic", readAt: "2026-11-23" };
const ANTHROPIC_PRICES = "https://platform.claude.com/docs/en/about-claude/pricing";
const OPENAI = { provider: "openai", readAt: "2026-11-23" };
/** Read in transcriptions of May 2026, and compared with `GITHUB_PRICES`. */
const OPENAI_PRICES = "https://developers.openai.com/api/docs/pricing (transcribed by third parties in May 2026)";
const GITHUB_PRICES = "https://github.com/github/docs/blob/main/data/tables/copilot/models-and-pricing.yml";
const GOOGLE = { provider: "google", readAt: "2026-11-23" };
const MISTRAL = { provider: "mistral", readAt: "2026-11-23", source: `${LITELLM_PRICES}, which names docs.mistral.ai` };
const COHERE = { provider: "cohere", readAt: "2026-11-23", source: LITELLM_PRICES };

/** The flex tier of OpenAI, half of the standard one. */
function flex({ prompt = 0, cached_prompt = 0, completion = 0 }: PerMillion) {
  return { service_tier: "flex", prompt: prompt / 2, cached_prompt: cached_prompt / 2, completion: completion / 2 };
}

const BUILTIN_ROWS: readonly BuiltinPrice[] = [
  ...[
    { model: "claude-fable-5-1", perMillion: claude(10, 0.25, 12.5, 20, 50) },
    { model: "claude-fable-5", perMillion: claude(10, 1, 12.5, 20, 50) },
    { model: "claude-opus-5-5", perMillion: claude(4, 0.2, 5, 8, 20), source: LITELLM_PRICES },
    { model: "claude-sonnet-5-5", perMillion: claude(2, 0.1, 2.5, 4, 10), source: LITELLM_PRICES },
    { model: "claude-opus-5", perMillion: claude(5, 0.5, 6.25, 10, 25) },
    { model: "claude-opus-4-8", perMillion: claude(5, 0.5, 6.25, 10, 25) },
    { model: "claude-opus-4-7", perMillion: claude(5, 0.5, 6.25, 10, 25) },
    { model: "claude-opus-4-6", perMillion: claude(5, 0.5, 6.25, 10, 25) },
    { model: "claude-opus-4-5", perMillion: claude(5, 0.5, 6.25, 10, 25) },
    { model: "claude-opus-4-1", perMillion: claude(15, 1.5, 18.75, 30, 75) },
    { model: "claude-sonnet-4-6", perMillion: claude(3, 0.3, 3.75, 6, 15) },
    { model: "claude-haiku-4-5", perMillion: claude(1, 0.1, 1.25, 2, 5) },
  ].map((row) => ({ ...ANTHROPIC, source: ANTHROPIC_PRICES, ...row })),
  {
    ...ANTHROPIC,
    model: "claude-sonnet-5",
    perMillion: claude(2, 0.2, 2.5, 4, 10),
    source: "https://platform.claude.com/docs/en/models/sonnet-5/overview",
  },
  {
    ...ANTHROPIC,
    model: "claude-haiku-5-5",
    perMillion: claude(0.1, 0.01, 0.125, 0.2, 0.5),
    tiers: [{ above_prompt_tokens: 100_000, ...claude(0.5, 0.05, 0.625, 1, 2.5) }],
    source: "https://platform.claude.com/docs/en/models/haiku-5-5/overview",
  },
  {
    ...OPENAI,
    model: "gpt-5.5",
    perMillion: { prompt: 5, cached_prompt: 0.5, completion: 30 },
    tiers: [
      flex({ prompt: 5, cached_prompt: 0.5, completion: 30 }),
      { service_tier: "priority", prompt: 12.5, cached_prompt: 1.25, completion: 75 },
      { above_prompt_tokens: 272_000, prompt: 10, cached_prompt: 1, completion: 45 },
      { above_prompt_tokens: 272_000, ...flex({ prompt: 10, cached_prompt: 1, completion: 45 }) },
    ],
    source: `${OPENAI_PRICES}; long prompts: ${GITHUB_PRICES}; priority: https://openai.com/api-priority-processing/; flex: ${LITELLM_PRICES}`,
  },
  {
    ...OPENAI,
    model: "gpt-5.4",
    perMillion: { prompt: 2.5, cached_prompt: 0.25, completion: 15 },
    tiers: [
      { service_tier: "priority", prompt: 5, cached_prompt: 0.5, completion: 30 },
      { above_prompt_tokens: 272_000, prompt: 5, cached_prompt: 0.5, completion: 22.5 },
    ],
    source: `${OPENAI_PRICES}; long prompts: ${GITHUB_PRICES}; priority: https://openai.com/api-priority-processing/`,
  },
  {
    ...OPENAI,
    model: "gpt-5.4-mini",
    perMillion: { prompt: 0.75, cached_prompt: 0.075, completion: 4.5 },
    tiers: [
      flex({ prompt: 0.75, cached_prompt: 0.075, completion: 4.5 }),
      { service_tier: "priority", prompt: 1.5, cached_prompt: 0.15, completion: 9 },
    ],
    source: `${OPENAI_PRICES}; priority: https://openai.com/api-priority-processing/; flex: ${LITELLM_PRICES}`,
  },
  {
    ...OPENAI,
    model: "gpt-5.4-nano",
    perMillion: { prompt: 0.2, cached_prompt: 0.02, completion: 1.25 },
    source: OPENAI_PRICES,
  },
  {
    ...OPENAI,
    model: "gpt-5-mini",
    perMillion: { prompt: 0.25, cached_prompt: 0.025, completion: 2 },
    tiers: [{ service_tier: "priority", prompt: 0.45, cached_prompt: 0.045, completion: 3.6 }],
    source: `${GITHUB_PRICES}; priority: https://openai.com/api-priority-processing/`,
  },
  {
    ...OPENAI,
    model: "gpt-4.1",
    perMillion: { prompt: 2, cached_prompt: 0.5, completion: 8 },
    tiers: [{ service_tier: "priority", prompt: 3.5, cached_prompt: 0.875, completion: 14 }],
    source: `${GITHUB_PRICES}; priority: https://openai.com/api-priority-processing/`,
  },
  {
    ...OPENAI,
    model: "gpt-4.1-mini",
    perMillion: { prompt: 0.4, cached_prompt: 0.1, completion: 1.6 },
    source: "https://vercel.com/ai-gateway/models/gpt-4.1-mini/api",
  },
  {
    ...OPENAI,
    model: "text-embedding-3-small",
    perMillion: { prompt: 0.02 },
    source: "https://tokenmath.io/openai-api-pricing-explained, which names OpenAI's page of 2026-06-21",
  },
  {
    ...GOOGLE,
    model: "gemini-3.1-pro-preview",
    perMillion: { prompt: 2, cached_prompt: 0.2, completion: 12 },
    tiers: [{ above_prompt_tokens: 200_000, prompt: 4, cached_prompt: 0.4, completion: 18 }],
    source: GITHUB_PRICES,
  },
  {
    ...GOOGLE,
    model: "gemini-3.5-flash",
    perMillion: { prompt: 1.5, cached_prompt: 0.15, completion: 9 },
    source: GITHUB_PRICES,
  },
  {
    ...GOOGLE,
    model: "gemini-2.5-pro",
    perMillion: { prompt: 1.25, cached_prompt: 0.125, completion: 10 },
    tiers: [{ above_prompt_tokens: 200_000, prompt: 2.5, cached_prompt: 0.25, completion: 15 }],
    source: "https://deploybase.ai/articles/gemini-api-pricing, which names Google's page of March 2026",
  },
  {
    ...GOOGLE,
    model: "gemini-2.5-flash",
    perMillion: { prompt: 0.3, cached_prompt: 0.03, completion: 2.5 },
    source: "https://deploybase.ai/articles/gemini-api-pricing, which names Google's page of March 2026",
  },
  { ...MISTRAL, model: "mistral-large-2512", perMillion: { prompt: 0.5, cached_prompt: 0.05, completion: 1.5 } },
  { ...MISTRAL, model: "mistral-large", perMillion: { prompt: 0.5, cached_prompt: 0.05, completion: 1.5 } },
  { ...MISTRAL, model: "mistral-medium", perMillion: { prompt: 1.5, cached_prompt: 0.15, completion: 7.5 } },
  { ...MISTRAL, model: "mistral-small", perMillion: { prompt: 0.15, cached_prompt: 0.015, completion: 0.6 } },
  { ...MISTRAL, model: "codestral", perMillion: { prompt: 0.3, cached_prompt: 0.03, completion: 0.9 } },
  { ...MISTRAL, model: "mistral-embed", perMillion: { prompt: 0.1 }, source: LITELLM_PRICES },
  { ...COHERE, model: "command-a-03-2025", perMillion: { prompt: 2.5, completion: 10 } },
  { ...COHERE, model: "command-r7b-12-2024", perMillion: { prompt: 0.0375, completion: 0.15 } },
  { ...COHERE, model: "embed-v4.0", perMillion: { prompt: 0.12 } },
];

/** Gemini costs the same on Vertex AI. */
const VERTEX_PRICES: readonly BuiltinPrice[] = [
  ...BUILTIN_ROWS.filter(({ provider }) => provider === "google").map((row) => ({
    ...row,
    provider: "vertex",
    source: `${LITELLM_PRICES}, which names cloud.google.com`,
  })),
  {
    provider: "vertex",
    model: "gemini-embedding-001",
    perMillion: { prompt: 0.15 },
    source: LITELLM_PRICES,
    readAt: GOOGLE.readAt,
  },
];

export const BUILTIN_PRICES: readonly BuiltinPrice[] = [...BUILTIN_ROWS, ...VERTEX_PRICES, ...BEDROCK_PRICES];

export function builtinPrices(): PriceListEntry[] {
  return BUILTIN_PRICES.map(({ provider, model, perMillion, tiers }) => {
    const price: Price = {
      ...toUnits(perMillion),
      ...(tiers !== undefined && {
        tiers: tiers.map(({ above_prompt_tokens, service_tier, ...units }) => ({
          ...(above_prompt_tokens !== undefined && { above_prompt_tokens }),
          ...(service_tier !== undefined && { service_tier }),
          ...toUnits(units),
        })),
      }),
    };
    return { provider, model, price };
  });
}

function toUnits(perMillion: PerMillion): Partial<Record<PriceUnit, string>> {
  return Object.fromEntries(
    PRICE_UNITS.flatMap((unit) => {
      const amount = toDecimal(perMillion[unit], -6);
      return amount === undefined ? [] : [[unit, amount]];
    }),
  );
}
