/** Prices, as configured and as imported: decimal strings, so that no sum is rounded before its end. */

/** Units in US dollars (or the price's currency) each. Tokens that a more special unit counts are not counted again. */
export const PRICE_UNITS = [
  "prompt",
  "cached_prompt",
  "cache_write",
  "cache_write_hour",
  "completion",
  "reasoning",
  "input_audio",
  "cached_audio",
  "output_audio",
  "input_image",
  "output_image",
  "image",
  "character",
  "second",
  "request",
] as const;

export type PriceUnit = (typeof PRICE_UNITS)[number];

type Units = Readonly<Partial<Record<PriceUnit, string | undefined>>>;

/** Units that replace those of the price where all conditions hold. */
export interface PriceTier extends Units {
  /** Holds for prompts of more tokens than this, cached ones included. */
  readonly above_prompt_tokens?: number | undefined;
  /** Holds for requests that the provider processed in this tier, such as `batch`, `flex` or `priority`. */
  readonly service_tier?: string | undefined;
}

export interface Price extends Units {
  /** Per call of a tool that the provider runs, such as `web_search`. */
  readonly tool_calls?: Readonly<Record<string, string>> | undefined;
  /** Later tiers override earlier ones. */
  readonly tiers?: readonly PriceTier[] | undefined;
  /** ISO 4217 code of the units; undefined: US dollars. */
  readonly currency?: string | undefined;
  /** US dollars for one unit of the currency. */
  readonly exchange_rate?: string | undefined;
}

/** What a request is charged: a price and decimal factors of it, such as a discount of a deployment. */
export interface Charge {
  readonly price: Price;
  readonly factors: readonly string[];
  /** What the deployment itself costs, for comparison with the provider's own statement; undefined: the same. */
  readonly deploymentCharge?: Charge | undefined;
}

export const NO_PRICE: Price = {};
