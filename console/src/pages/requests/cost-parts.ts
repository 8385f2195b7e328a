import type { ModelEntry } from "../../api/models.ts";
import type { RequestEntry } from "./requests-api.ts";

export interface CostPart {
  label: string;
  tokens: number;
  /** Null when the parts are not known: the model has no price, or it has changed since. */
  costUsd: number | null;
}

/** Rounding of the recorded cost, which is in billionths of a dollar. */
const TOLERANCE = 2e-9;

/** Tokens of a request by kind, with their costs where the model's current price adds up to the recorded cost. */
export function costParts(entry: RequestEntry, pricing: ModelEntry["metadata"]["pricing"] | undefined): CostPart[] {
  const { input_tokens: input, input_cached_tokens: cached, output_tokens: output, cost_usd: cost } = entry;
  if (input === null) return [];
  const { prompt, cached_prompt: cachedPrice, completion } = pricing ?? {};
  const priceOf = (price: string | null | undefined) => (price == null ? Number.NaN : Number(price));
  const parts = [
    { label: "Input tokens", tokens: input - (cached ?? 0), price: priceOf(prompt) },
    { label: "Cached input tokens", tokens: cached ?? 0, price: priceOf(cachedPrice ?? prompt) },
    { label: "Output tokens", tokens: output ?? 0, price: priceOf(completion) },
  ].filter(({ tokens }, index) => tokens > 0 || index !== 1);
  const sum = parts.reduce((total, { tokens, price }) => total + (tokens === 0 ? 0 : tokens * price), 0);
  const isCurrent = cost !== null && Math.abs(sum - cost) <= TOLERANCE;
  return parts.map(({ label, tokens, price }) => ({
    label,
    tokens,
    costUsd: isCurrent ? (tokens === 0 ? 0 : tokens * price) : null,
  }));
}
