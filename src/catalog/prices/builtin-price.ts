import type { PriceTier, PriceUnit } from "../../contracts/price.ts";

/** US dollars per million. */
export type PerMillion = Partial<Record<PriceUnit, number>>;

export interface BuiltinPrice {
  provider: string;
  model: string;
  perMillion: PerMillion;
  tiers?: readonly (PerMillion & Pick<PriceTier, "above_prompt_tokens" | "service_tier">)[];
  /** Page that states the price. */
  source: string;
  /** Date on which the page was read. */
  readAt: string;
}

/** Third party, which names the providers' pages for its rows. */
export const LITELLM_PRICES =
  "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json (release 1.106.2 of 2026-10-21)";
export const LITELLM_READ_AT = "2026-11-23";

/** Input, cache read, cache write for five minutes and for an hour, and output. */
export function claude(prompt: number, read: number, write: number, writeHour: number, completion: number): PerMillion {
  return { prompt, cached_prompt: read, cache_write: write, cache_write_hour: writeHour, completion };
}
