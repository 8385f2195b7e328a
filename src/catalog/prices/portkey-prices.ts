/** Reads Portkey's pricing files, one a provider, with numbers in US cents. */

import type { Price, PriceTier, PriceUnit } from "../../contracts/price.ts";
import { toDecimal } from "./decimal.ts";
import type { PriceListEntry } from "./price-list.ts";

type Fields = Readonly<Record<string, unknown>>;

const UNITS: Readonly<Record<string, PriceUnit>> = {
  request_token: "prompt",
  response_token: "completion",
  cache_read_input_token: "cached_prompt",
  cache_write_input_token: "cache_write",
  request_audio_token: "input_audio",
  cache_read_audio_input_token: "cached_audio",
  response_audio_token: "output_audio",
  request_image_token: "input_image",
  response_image_token: "output_image",
};

const ADDITIONAL_UNITS: Readonly<Record<string, PriceUnit>> = {
  thinking_token: "reasoning",
  cache_write_1h: "cache_write_hour",
  image_token: "output_image",
  request_audio_token: "input_audio",
  response_audio_token: "output_audio",
};

const TOOLS = new Set(["web_search", "file_search", "code_interpreter"]);

/** Portkey's names of providers, which are those of its files, where they differ. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "mistral-ai": "mistral",
  "x-ai": "xai",
  "together-ai": "together",
  "fireworks-ai": "fireworks",
  "perplexity-ai": "perplexity",
  "azure-openai": "azure",
};

/** `gemini-2.5-pro-gt-200k`: the same model with longer prompts. */
const LENGTH = /^(.*)-(lte|gt)-(\d{1,4})k$/;
const CENTS = -2;

export function isPortkeyPrices(value: Fields): boolean {
  return Object.values(value).some((model) => typeof model === "object" && model !== null && "pricing_config" in model);
}

/** `name`: of the file without its extension, which is the provider's. */
export function readPortkeyPrices(value: Fields, name: string): PriceListEntry[] {
  const provider = PROVIDERS[name] ?? name;
  const entries = new Map<string, Price>();
  // The variants of longer prompts after those that they add to.
  const models = Object.entries(value).toSorted(
    ([a], [b]) => Number(/-gt-\d+k$/.test(a)) - Number(/-gt-\d+k$/.test(b)),
  );
  for (const [model, definition] of models) {
    const price = toPrice(fieldsOf(fieldsOf(definition).pricing_config));
    if (model === "default" || price === undefined) continue;
    const [, base = model, comparison, thousands] = LENGTH.exec(model) ?? [];
    if (comparison === "gt") entries.set(base, withLongPrompts(entries.get(base), price, Number(thousands) * 1000));
    else entries.set(base, price);
  }
  return [...entries].map(([model, price]) => ({ provider, model, price }));
}

function withLongPrompts(short: Price | undefined, { tiers = [], ...long }: Price, above: number): Price {
  const { tool_calls: _calls, ...units } = long;
  const longTiers = tiers.map((tier) => ({ ...tier, above_prompt_tokens: above }));
  return { ...short, tiers: [...(short?.tiers ?? []), { ...units, above_prompt_tokens: above }, ...longTiers] };
}

/** Undefined for a model that has no price, or a price of 0 for everything, which stands for an unknown one there. */
function toPrice(config: Fields): Price | undefined {
  const payAsYouGo = fieldsOf(config.pay_as_you_go);
  const additional = fieldsOf(payAsYouGo.additional_units);
  const units = { ...unitsOf(additional, ADDITIONAL_UNITS), ...unitsOf(payAsYouGo, UNITS) };
  if (Object.values(units).every((amount) => amount === "0")) return undefined;
  const batch: PriceTier = { ...unitsOf(fieldsOf(config.batch_config), UNITS), service_tier: "batch" };
  const calls = Object.entries(additional).flatMap(([tool, unit]) => {
    const amount = TOOLS.has(tool) ? amountOf(unit) : undefined;
    return amount === undefined ? [] : [[tool, amount] as const];
  });
  return {
    ...units,
    // No provider writes to a cache for nothing; there, 0 stands for the price of the prompt.
    ...(units.cache_write === "0" && { cache_write: undefined }),
    ...(calls.length > 0 && { tool_calls: Object.fromEntries(calls) }),
    ...(Object.keys(batch).length > 1 && { tiers: [batch] }),
  };
}

function unitsOf(fields: Fields, names: Readonly<Record<string, PriceUnit>>): Partial<Record<PriceUnit, string>> {
  const units: Partial<Record<PriceUnit, string>> = {};
  for (const [name, unit] of Object.entries(names)) {
    const amount = amountOf(fields[name]);
    if (amount !== undefined) units[unit] = amount;
  }
  return units;
}

function amountOf(unit: unknown): string | undefined {
  return toDecimal(fieldsOf(unit).price, CENTS);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
