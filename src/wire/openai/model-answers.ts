/** Models as GET /v1/models shows them. */

import { z } from "zod";
import { PRICE_UNITS } from "../../contracts/price.ts";
import { TASKS } from "../../contracts/task.ts";
import { lazy } from "../../kernel/lazy.ts";
import { named } from "../openapi/named.ts";

const count = z.int().min(0);
const countOrNull = count.nullable();
const textsOrNull = z.array(z.string()).nullable();
const abilityOrNull = z.boolean().nullable();

/** Decimal strings, so that no sum is rounded before its end. */
const units = Object.fromEntries(PRICE_UNITS.map((unit) => [unit, z.string().nullable().optional()])) as Record<
  (typeof PRICE_UNITS)[number],
  z.ZodOptional<z.ZodNullable<z.ZodString>>
>;

const Pricing = named(
  "ModelPricing",
  lazy
    .object(() => ({
      ...units,
      tool_calls: z.record(z.string(), z.string()).optional().describe("Per call of a tool that the provider runs."),
      tiers: z
        .array(
          z.object({
            ...units,
            above_prompt_tokens: count.optional().describe("For prompts of more tokens than this."),
            service_tier: z.string().optional().describe("For requests that the provider processed in this tier."),
          }),
        )
        .optional()
        .describe("Prices that replace those of the units, the last one that applies."),
      currency: z.string().optional().describe("ISO 4217; left out for US dollars."),
      exchange_rate: z.string().optional().describe("US dollars for one unit of the currency."),
    }))
    .describe("Price of a unit, such as a token, as a decimal; null: none."),
);

const Capabilities = named(
  "ModelCapabilities",
  lazy
    .object(() => ({
      streaming: abilityOrNull.optional(),
      tools: abilityOrNull.optional(),
      json_schema: abilityOrNull.optional(),
      vision: abilityOrNull.optional(),
      logprobs: abilityOrNull.optional(),
      reasoning: abilityOrNull.optional(),
      completions: abilityOrNull.optional().describe("Text completions."),
      infill: abilityOrNull.optional().describe("Text completions with a `suffix`."),
      max_choices: countOrNull.optional(),
      images: abilityOrNull.optional().describe("Whether it moderates images."),
      speakers: abilityOrNull.optional().describe("Whether it tells speakers apart."),
      word_times: abilityOrNull.optional(),
      prompt: abilityOrNull.optional().describe("Whether a transcription may have a prompt."),
      translation: abilityOrNull.optional(),
    }))
    .describe("Those of the task; null when unknown."),
);

const Metadata = named(
  "ModelMetadata",
  lazy.object(() => ({
    task: z.enum(TASKS),
    status: z.string(),
    loaded: z.boolean(),
    memory_bytes: z.number().nullable(),
    load_seconds: z.number().nullable(),
    deployed: z.array(z.string()).readonly().describe("Names of its deployments' engines or models."),
    license: z.string().nullable(),
    context_window: countOrNull,
    context_window_reason: z.string().nullable().describe("Why it is shorter than the model's."),
    max_output_tokens: countOrNull,
    pricing: Pricing,
    capabilities: Capabilities,
    modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
    aliases: z.array(z.string()).readonly(),
    fallbacks: z.array(z.string()).readonly(),
    dimensions: countOrNull.optional().describe("Length of an embedding."),
    voices: textsOrNull.optional().describe("Of speech models."),
    formats: z.array(z.string()).optional().describe("Of audio."),
    languages: textsOrNull.optional().describe("ISO 639-1 codes; null when unknown."),
    categories: textsOrNull.optional().describe("Of moderation models."),
    thresholds: z.record(z.string(), z.number()).nullable().optional().describe("Of moderation models, by category."),
  })),
);

export const Model = named(
  "Model",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
    access_groups: z.array(z.string()).optional().describe("With `include_model_access_groups`."),
    metadata: Metadata.optional().describe("With `include_metadata`."),
  })),
);
export const ModelList = named(
  "ModelList",
  lazy.object(() => ({ object: z.literal("list"), data: z.array(Model) })),
);
