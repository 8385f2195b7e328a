/** Prices of models and deployments, and section `prices`. */

import { z } from "zod";
import { lazy } from "../kernel/lazy.ts";
import { mapping } from "../kernel/settings/mapping.ts";

/** Integer and fractional digits are bounded so that a price times a token count is exact in integers. */
const dollars = z.string({ error: 'must be a quoted decimal, such as "0.0000001"' }).regex(/^\d{1,6}(\.\d{1,15})?$/, {
  error:
    'must be a quoted decimal number of US dollars, such as "0.0000001": not negative, without an exponent, at most 6 integer and 15 fractional digits',
});

/** Decimal above 0. */
export const factor = z
  .string({ error: 'must be a quoted decimal, such as "0.9"' })
  .regex(/^(?=.*[1-9])\d{1,6}(\.\d{1,9})?$/, {
    error: 'must be a quoted decimal above 0, such as "0.9", with at most 6 integer and 9 fractional digits',
  });

const currency = z.string().regex(/^[A-Z]{3}$/, { error: "must be an ISO 4217 code, such as EUR" });

const unit = (description: string) => dollars.optional().describe(description);

const units = {
  prompt: unit(
    "US dollars per prompt token (chat, embedding, and moderation, where four bytes count as a token), except for the tokens of the units below.",
  ),
  cached_prompt: unit("US dollars per prompt token read from a cache (chat). Default: the same as prompt."),
  cache_write: unit("US dollars per prompt token written to a cache. Default: the same as prompt."),
  cache_write_hour: unit(
    "US dollars per prompt token written to a cache that keeps it for an hour. Default: the same as cache_write.",
  ),
  completion: unit("US dollars per completion token (chat), except for the tokens of the units below."),
  reasoning: unit("US dollars per completion token spent on reasoning. Default: the same as completion."),
  input_audio: unit("US dollars per prompt token of audio. Default: the same as prompt."),
  cached_audio: unit("US dollars per audio token read from a cache. Default: the same as cached_prompt."),
  output_audio: unit("US dollars per completion token of audio. Default: the same as completion."),
  input_image: unit("US dollars per prompt token of images. Default: the same as prompt."),
  output_image: unit("US dollars per completion token of images. Default: the same as completion."),
  image: unit("US dollars per generated image."),
  character: unit("US dollars per input character (speech)."),
  second: unit("US dollars per second of audio (transcription, speech, and prompts whose audio counts in seconds)."),
  request: unit("US dollars per request."),
};

const tier = lazy
  .strictObject(() => ({
    above_prompt_tokens: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .optional()
      .describe("Applies to requests whose prompt has more tokens than this, cached ones included."),
    service_tier: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,31}$/, { error: "must be the name of a tier, such as flex" })
      .optional()
      .describe("Applies to requests that the upstream reports to have processed in this tier: batch, flex, priority…"),
    ...units,
  }))
  .refine((value) => value.above_prompt_tokens !== undefined || value.service_tier !== undefined, {
    error: "needs above_prompt_tokens, service_tier, or both",
  });

export const price = lazy
  .strictObject(() => ({
    ...units,
    tool_calls: z
      .record(z.string().regex(/^[a-z][a-z0-9_]{0,50}$/, { error: "must be the name of a tool" }), dollars)
      .optional()
      .describe("US dollars per call of a tool that the upstream runs, by its name: web_search, file_search…"),
    tiers: z
      .array(tier)
      .max(20)
      .optional()
      .describe(
        "Other prices by the length of the prompt and by service tier, for all tokens of a request. Where several apply, later ones override earlier ones; a unit that a tier leaves out keeps its price.",
      ),
    currency: currency
      .optional()
      .describe("Currency of all units, converted at `prices.exchange_rates`. Default: US dollars."),
  }))
  .describe(
    "Price of the model, recorded as the cost of each request. Default: that of the deployment that answers, then `prices.lists`; without any, the cost is recorded as unknown, not as zero.",
  );

const vectorStorePrices = lazy
  .strictObject(() => ({
    gigabyte_day: unit("US dollars for a gigabyte (10^9 bytes) of chunks and vectors that is stored for a day."),
    search: unit("US dollars per search, in addition to the models that it uses."),
  }))
  .default({})
  .describe("Prices of vector stores of this service. Their size is recorded each hour, also without a price.");

export const priceSettings = mapping(
  () => ({
    vector_stores: vectorStorePrices,
    lists: z
      .array(z.string().min(1))
      .max(20)
      .default([])
      .describe(
        "Price lists for models and deployments without a `price`; earlier ones take precedence. builtin: the public prices that come with Parlance, of the upstreams of well-known providers. Otherwise a file relative to this one, in the format of LiteLLM (model_prices_and_context_window.json) or Portkey (a file per provider, such as openai.json). A deployment is looked up by the host of its base_url and its model.",
      ),
    exchange_rates: z
      .record(currency, factor)
      .default({})
      .describe('US dollars for one unit of a currency, such as EUR: "1.08". Costs are recorded in US dollars.'),
    project_factors: z
      .record(z.string().min(1), factor)
      .default({})
      .describe(
        'Discount or surcharge by project ID: "0.9" records 90 % of each cost, also against the spend limits. Applies to requests that begin after a reload.',
      ),
  }),
  "Price lists, currencies, and discounts and surcharges of projects.",
);

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    prices: z.output<typeof priceSettings>;
  }
}
