/** Reads LiteLLM's model_prices_and_context_window.json: a mapping of models, with numbers in US dollars. */

import type { Price, PriceTier, PriceUnit } from "../../contracts/price.ts";
import { toDecimal } from "./decimal.ts";
import type { PriceListEntry } from "./price-list.ts";

type Fields = Readonly<Record<string, unknown>>;

const UNITS: Readonly<Record<string, PriceUnit>> = {
  input_cost_per_token: "prompt",
  output_cost_per_token: "completion",
  cache_read_input_token_cost: "cached_prompt",
  cache_creation_input_token_cost: "cache_write",
  output_cost_per_reasoning_token: "reasoning",
  input_cost_per_audio_token: "input_audio",
  cache_read_input_audio_token_cost: "cached_audio",
  output_cost_per_audio_token: "output_audio",
  input_cost_per_image_token: "input_image",
  output_cost_per_image_token: "output_image",
  output_cost_per_image: "image",
  input_cost_per_character: "character",
  input_cost_per_second: "second",
  input_cost_per_request: "request",
};

/** LiteLLM's names of providers where they differ. */
const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: "google",
  together_ai: "together",
  fireworks_ai: "fireworks",
  cohere_chat: "cohere",
  bedrock_converse: "bedrock",
  vertex_ai: "vertex",
  "vertex_ai-language-models": "vertex",
  "vertex_ai-embedding-models": "vertex",
  jina_ai: "jina",
  "text-completion-openai": "openai",
};

const SERVICE_TIERS: Readonly<Record<string, string>> = { batches: "batch", flex: "flex", priority: "priority" };

/** `_above_200k_tokens`, `_flex`, `_above_272k_tokens_priority`; `_above_1hr` is a lifetime, not a length. */
const SUFFIXES = /^(.*?)(_above_1hr)?(?:_above_(\d{1,4})k_tokens)?(?:_(batches|flex|priority))?$/;

export function isLiteLlmPrices(value: Fields): boolean {
  return Object.values(value).some(
    (model) => typeof model === "object" && model !== null && "litellm_provider" in model,
  );
}

export function readLiteLlmPrices(value: Fields): PriceListEntry[] {
  return Object.entries(value).flatMap(([name, model]) => {
    if (typeof model !== "object" || model === null || name === "sample_spec") return [];
    const { litellm_provider: litellmProvider } = model as Fields;
    const price = toPrice(model as Fields);
    if (typeof litellmProvider !== "string" || price === undefined) return [];
    const provider = PROVIDERS[litellmProvider] ?? litellmProvider;
    // `openai/gpt-5` and `gpt-5` are the same model; `openrouter/openai/gpt-5` is OpenRouter's `openai/gpt-5`.
    const prefix = `${litellmProvider}/`;
    return [{ provider, model: name.startsWith(prefix) ? name.slice(prefix.length) : name, price }];
  });
}

/** Converts one entry, which a `model_info` of LiteLLM's configuration may be, too. Undefined without a price. */
export function toPrice(model: Fields): Price | undefined {
  const base: Partial<Record<PriceUnit, string>> = {};
  const tiers = new Map<string, ReadTier>();
  for (const [field, value] of Object.entries(model)) {
    const amount = toDecimal(value);
    const [, name = "", isHourly, thousands, service] = SUFFIXES.exec(field) ?? [];
    const unit = isHourly === undefined ? UNITS[name] : HOURLY_UNITS[name];
    if (amount === undefined || unit === undefined) continue;
    if (thousands === undefined && service === undefined) base[unit] = amount;
    else tierOf(tiers, thousands, service).units[unit] = amount;
  }
  const toolCalls = toolCallsOf(model);
  if (Object.keys(base).length === 0 && toolCalls === undefined) return undefined;
  return {
    ...base,
    ...(toolCalls !== undefined && { tool_calls: toolCalls }),
    ...(tiers.size > 0 && { tiers: inOrder([...tiers.values()]) }),
  };
}

interface ReadTier {
  above: number;
  service: string | undefined;
  units: Partial<Record<PriceUnit, string>>;
}

const HOURLY_UNITS: Readonly<Record<string, PriceUnit>> = { cache_creation_input_token_cost: "cache_write_hour" };

function tierOf(tiers: Map<string, ReadTier>, thousands: string | undefined, service: string | undefined): ReadTier {
  const key = `${thousands} ${service}`;
  const above = Number(thousands ?? 0) * 1000;
  const tier = tiers.get(key) ?? { above, service: SERVICE_TIERS[service ?? ""], units: {} };
  tiers.set(key, tier);
  return tier;
}

/** Longer prompts override shorter ones, and service tiers override the standard one. */
function inOrder(
  tiers: readonly { above: number; service: string | undefined; units: Partial<Record<PriceUnit, string>> }[],
): PriceTier[] {
  const rank = (service: string | undefined) => (service === undefined ? 0 : 1);
  return tiers
    .toSorted((a, b) => rank(a.service) - rank(b.service) || a.above - b.above)
    .map(({ above, service, units }) => ({
      ...(above > 0 && { above_prompt_tokens: above }),
      ...(service !== undefined && { service_tier: service }),
      ...units,
    }));
}

function toolCallsOf(model: Fields): Record<string, string> | undefined {
  const { search_context_cost_per_query: search, file_search_cost_per_1k_calls: fileSearch } = model;
  const webSearch = toDecimal((search as Fields | null | undefined)?.search_context_size_medium);
  const file = toDecimal(fileSearch, -3);
  const calls = {
    ...(webSearch !== undefined && { web_search: webSearch }),
    ...(file !== undefined && { file_search: file }),
  };
  return Object.keys(calls).length === 0 ? undefined : calls;
}
