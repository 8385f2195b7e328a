import type { ModelEntry } from "../../api/models.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";
import type { RequestEntry } from "./requests-api.ts";

export interface CostPart {
  label: string;
  tokens: number;
  /** Null when the parts are not known: the model has no price, or it has changed since. */
  costUsd: number | null;
}

/** Rounding of the recorded cost, which is in billionths of a dollar. */
const TOLERANCE = 2e-9;

/** Quantities of a request by kind, with their costs: as recorded for uncommon units, otherwise where the model's current price adds up to the recorded cost. */
export function costParts(entry: RequestEntry, pricing: ModelEntry["metadata"]["pricing"] | undefined): CostPart[] {
  const { input_tokens: input, input_cached_tokens: cached, output_tokens: output, cost_usd: cost } = entry;
  if (entry.cost_parts != null && entry.cost_parts.length > 0) return recordedParts(entry.cost_parts);
  if (input === null) return [];
  const { prompt, cached_prompt: cachedPrice, completion, exchange_rate: rate } = pricing ?? {};
  const priceOf = (price: string | null | undefined) =>
    price == null ? Number.NaN : Number(price) * Number(rate ?? 1);
  const parts = [
    { label: t("Input tokens"), tokens: input - (cached ?? 0), price: priceOf(prompt) },
    { label: t("Cached input tokens"), tokens: cached ?? 0, price: priceOf(cachedPrice ?? prompt) },
    { label: t("Output tokens"), tokens: output ?? 0, price: priceOf(completion) },
  ].filter(({ tokens }, index) => tokens > 0 || index !== 1);
  const sum = parts.reduce((total, { tokens, price }) => total + (tokens === 0 ? 0 : tokens * price), 0);
  const isCurrent = cost !== null && Math.abs(sum - cost) <= TOLERANCE;
  return parts.map(({ label, tokens, price }) => ({
    label,
    tokens,
    costUsd: isCurrent ? (tokens === 0 ? 0 : tokens * price) : null,
  }));
}

const LABELS: Readonly<Record<string, Message>> = {
  prompt: msg("Input tokens"),
  cached_prompt: msg("Cached input tokens"),
  cache_write: msg("Tokens written to a cache"),
  cache_write_hour: msg("Tokens written to a cache for an hour"),
  completion: msg("Output tokens"),
  reasoning: msg("Reasoning tokens"),
  input_audio: msg("Audio tokens in"),
  cached_audio: msg("Cached audio tokens"),
  output_audio: msg("Audio tokens out"),
  input_image: msg("Image tokens in"),
  output_image: msg("Image tokens out"),
  image: msg("Images"),
  character: msg("Characters"),
  second: msg("Seconds of audio"),
  request: msg("Request"),
};

function labelOf(unit: string): string {
  const label = LABELS[unit];
  return label === undefined ? unit : t(label);
}

function recordedParts(parts: NonNullable<RequestEntry["cost_parts"]>): CostPart[] {
  return parts.map(({ unit, quantity, cost_usd: costUsd }) => {
    const tool = unit.startsWith("tool_calls.") ? unit.slice("tool_calls.".length) : undefined;
    return { label: tool === undefined ? labelOf(unit) : t("Calls of {{tool}}", { tool }), tokens: quantity, costUsd };
  });
}

/** Share by which a cost may differ from what the provider states. */
const DIFFERENCE = 0.01;

/** Whether the provider states another cost than the price of its deployment makes. */
export function differsFromStated(reported: number | null | undefined, compared: number | null | undefined): boolean {
  if (reported == null || compared == null) return false;
  const difference = Math.abs(reported - compared);
  return difference > TOLERANCE && difference > DIFFERENCE * compared;
}
