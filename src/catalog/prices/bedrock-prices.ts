/** Public prices of models on Amazon Bedrock, by the IDs of its inference profiles. */

import { type BuiltinPrice, claude, LITELLM_PRICES, LITELLM_READ_AT, type PerMillion } from "./builtin-price.ts";

const BEDROCK = {
  provider: "bedrock",
  source: `${LITELLM_PRICES}, which names https://aws.amazon.com/bedrock/pricing/`,
  readAt: LITELLM_READ_AT,
};

/** Profiles that keep requests within a part of the world, which cost a tenth more for these models. */
const REGIONAL = ["us", "eu", "apac", "au", "jp"];
const WORLDWIDE = ["", "global."];
const REGIONAL_FACTOR = 1.1;
/** Claude Haiku 5.5 above 100,000 prompt tokens. */
const LONG_HAIKU = claude(0.5, 0.05, 0.625, 1, 2.5);

const CLAUDE: Readonly<Record<string, PerMillion>> = {
  "claude-fable-5": claude(10, 1, 12.5, 20, 50),
  "claude-opus-5-5": claude(4, 0.2, 5, 8, 20),
  "claude-opus-5": claude(5, 0.5, 6.25, 10, 25),
  "claude-opus-4-8": claude(5, 0.5, 6.25, 10, 25),
  "claude-sonnet-5-5": claude(2, 0.1, 2.5, 4, 10),
  "claude-sonnet-5": claude(2, 0.2, 2.5, 4, 10),
  "claude-sonnet-4-6": claude(3, 0.3, 3.75, 6, 15),
  "claude-haiku-5-5": claude(0.1, 0.01, 0.125, 0.2, 0.5),
  "claude-haiku-4-5-20251001-v1:0": claude(1, 0.1, 1.25, 2, 5),
};

const OTHERS: Readonly<Record<string, PerMillion>> = {
  "amazon.nova-micro-v1:0": { prompt: 0.035, cached_prompt: 0.00875, completion: 0.14 },
  "amazon.nova-lite-v1:0": { prompt: 0.06, cached_prompt: 0.015, completion: 0.24 },
  "amazon.nova-pro-v1:0": { prompt: 0.8, cached_prompt: 0.2, completion: 3.2 },
  "amazon.titan-embed-text-v2:0": { prompt: 0.02 },
  "cohere.embed-v4:0": { prompt: 0.12 },
};

export const BEDROCK_PRICES: readonly BuiltinPrice[] = [
  ...Object.entries(CLAUDE).flatMap(([name, perMillion]) => [
    ...WORLDWIDE.map((prefix) => claudeRow(`${prefix}anthropic.${name}`, perMillion, 1)),
    ...REGIONAL.map((prefix) => claudeRow(`${prefix}.anthropic.${name}`, perMillion, REGIONAL_FACTOR)),
  ]),
  ...Object.entries(OTHERS).flatMap(([model, perMillion]) =>
    ["", "us."].map((prefix) => ({ ...BEDROCK, model: prefix + model, perMillion })),
  ),
];

function claudeRow(model: string, perMillion: PerMillion, factor: number): BuiltinPrice {
  const isLong = model.includes("haiku-5-5");
  const tiers = [{ above_prompt_tokens: 100_000, ...times(LONG_HAIKU, factor) }];
  return { ...BEDROCK, model, perMillion: times(perMillion, factor), ...(isLong && { tiers }) };
}

function times(perMillion: PerMillion, factor: number): PerMillion {
  // Rounded, since a tenth is no binary fraction.
  const rounded = (value: number) => Number((value * factor).toFixed(9));
  return Object.fromEntries(Object.entries(perMillion).map(([unit, value]) => [unit, rounded(value)]));
}
