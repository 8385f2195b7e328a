/** Computes the cost of a request in exact integer arithmetic, rounded once. */

import type { Operation, Usage } from "../../kernel/usage.ts";

/** US dollars per unit as decimal strings, as configured. */
export type Price = Readonly<Record<string, string>>;

/** Prices have at most 15 digits after the point, and audio counts in thousandths of a second. */
const PRICE_DIGITS = 15;
const PARTS_PER_NANO_DOLLAR = 10n ** BigInt(PRICE_DIGITS - 9) * 1000n;

/** Null when the model has no price; units missing from the price are free. */
export function costInNanoDollars(price: Price, operation: Operation, usage: Usage): number | null {
  if (Object.keys(price).length === 0) return null;
  const parts = partsOf(price, operation, usage);
  return Number((parts + PARTS_PER_NANO_DOLLAR / 2n) / PARTS_PER_NANO_DOLLAR);
}

function partsOf(price: Price, operation: Operation, usage: Usage): bigint {
  const at = (unit: string | undefined, thousandths: number) => toParts(unit) * BigInt(Math.round(thousandths));
  const { prompt, cached_prompt: cachedPrompt = prompt } = price;
  switch (operation) {
    case "chat":
      return (
        at(prompt, (usage.promptTokens - usage.cachedTokens) * 1000) +
        at(cachedPrompt, usage.cachedTokens * 1000) +
        at(price.completion, usage.completionTokens * 1000)
      );
    case "embedding":
    case "moderation":
      return at(prompt, usage.promptTokens * 1000);
    case "speech":
      return at(price.character, usage.characters * 1000);
    case "transcription":
      return at(price.second, usage.audioSeconds * 1000);
  }
}

function toParts(dollars = "0"): bigint {
  const [integer = "0", fraction = ""] = dollars.split(".");
  return BigInt(integer + fraction.padEnd(PRICE_DIGITS, "0"));
}
