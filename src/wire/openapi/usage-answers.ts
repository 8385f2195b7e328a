/** Answers of the administration API about what was used: usage, costs, requests and the overview. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { memberOf, named, toComponentName } from "./named.ts";

const seconds = z.int();
const count = z.int().min(0);

function bucketsOf(result: z.ZodType) {
  return lazy.object(() => ({
    object: z.literal("page"),
    data: z.array(
      z.object({ object: z.literal("bucket"), start_time: seconds, end_time: seconds, results: z.array(result) }),
    ),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
  }));
}

const nullable = z.string().nullable();

const labelled = {
  api_source: z.literal("unlabeled").optional().describe("Set when grouped by `api_source`."),
  x_deployment: z.string().optional().describe("Set when grouped by `deployment`."),
  x_end_user: z.string().optional().describe("Set when grouped by `end_user`."),
  x_tag: z.string().optional().describe("Set when grouped by `tag`."),
  x_tool: z.string().optional().describe("Set when grouped by `tool`."),
  x_prompt: z.string().optional().describe("Set when grouped by `prompt`: ID and version of a stored prompt."),
};

/** What is counted, by kind of usage. */
const AMOUNTS = {
  completions: {
    input_tokens: count,
    input_cached_tokens: count,
    input_cache_write_tokens: count,
    input_uncached_tokens: count,
    output_tokens: count,
    input_audio_tokens: count,
    output_audio_tokens: count,
    x_output_reasoning_tokens: count,
    x_num_tool_calls: count,
    batch: z.boolean().nullable().describe("Null unless grouped by it."),
    service_tier: nullable.describe("Null unless grouped by it."),
  },
  embeddings: { input_tokens: count },
  moderations: { input_tokens: count },
  audio_speeches: { characters: count },
  audio_transcriptions: { seconds: count },
  images: {
    images: count,
    source: nullable.describe("Set when grouped by `source`: `image.generation`, `image.edit` or `image.variation`."),
    size: nullable.describe("Set when grouped by `size`: one of OpenAI's sizes, or `other`."),
  },
  vector_stores: {
    usage_bytes: count.describe("Mean size during the bucket."),
    x_stored_byte_hours: z.number(),
  },
} as const;

export type UsageKind = keyof typeof AMOUNTS;

export function usagePage<Kind extends UsageKind>(kind: Kind) {
  return memberOf(toComponentName(`usage.${kind}.page`), () => bucketsOf(resultOf(kind)));
}

function resultOf<Kind extends UsageKind>(kind: Kind) {
  return lazy.object(() => ({
    object: z.literal(`organization.usage.${kind}.result`),
    ...AMOUNTS[kind],
    num_model_requests: count,
    project_id: nullable,
    user_id: nullable.describe("Null also for service accounts, when grouped by `user_id`."),
    api_key_id: nullable,
    model: nullable,
    ...labelled,
  }));
}

export const UsageTotals = named(
  "UsageTotals",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("organization.usage.total"),
        project_id: z.string(),
        model: z.string(),
        num_model_requests: count,
        input_tokens: count,
        output_tokens: count,
        characters: count,
        audio_seconds: z.number(),
        cost_nano_dollars: count.nullable().describe("Null where no price was known."),
      }),
    ),
  })),
);

export const CostsPage = named(
  "CostsPage",
  bucketsOf(
    lazy.object(() => ({
      object: z.literal("organization.costs.result"),
      amount: z.object({ value: z.number(), currency: z.literal("usd") }),
      x_unpriced: z.literal(true).optional().describe("A model's price was unknown."),
      x_operation: z.string().optional().describe("Set when grouped by `operation`."),
      x_batch: z.boolean().optional().describe("Set when grouped by `batch`."),
      x_service_tier: nullable.optional().describe("Set when grouped by `service_tier`."),
      ...labelled,
      x_reported: z.number().optional().describe("What upstreams state that requests cost, in US dollars."),
      x_compared: z
        .number()
        .optional()
        .describe("Cost of the requests of `x_reported` at the prices of their deployments."),
      line_item: nullable,
      project_id: nullable,
      api_key_id: nullable,
      user_id: nullable,
      quantity: z.null(),
    })),
  ),
);

const numberOrNull = z.number().nullable();

export const RequestEntry = named(
  "RequestEntry",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("organization.request"),
    ended_at: z.number().describe("Unix seconds with milliseconds."),
    project_id: z.string(),
    api_key_id: z.string(),
    operation: z.string(),
    model: nullable,
    answered_by: nullable,
    deployment: nullable,
    status: z.int(),
    outcome: nullable,
    error: nullable,
    attempts: numberOrNull,
    queued_ms: numberOrNull,
    first_token_ms: numberOrNull,
    duration_ms: z.number(),
    input_tokens: numberOrNull,
    input_cached_tokens: numberOrNull,
    output_tokens: numberOrNull,
    characters: numberOrNull,
    audio_seconds: numberOrNull,
    cost_usd: numberOrNull,
    reasoning_tokens: numberOrNull,
    cache: z
      .enum(["hit", "miss", "bypass"])
      .nullable()
      .describe(
        "hit: a cached answer, at no cost; miss: run and cached; bypass: run without the cache; null: the model has none.",
      ),
    cost_parts: z
      .array(z.object({ unit: z.string(), quantity: z.number(), cost_usd: z.number() }))
      .nullable()
      .describe("Parts of the cost, at the price of the request; null for requests that only have common units."),
    reported_cost_usd: numberOrNull.describe("What the upstream states that the request cost."),
    compared_cost_usd: numberOrNull.describe("Cost at the price of the deployment, to compare with that."),
    service_tier: nullable.describe("Tier that the upstream reports; null: the standard one."),
    end_user: nullable,
    tags: z.array(z.string()),
    loading_ms: numberOrNull.describe("Time spent waiting for the model to load; null when it was loaded."),
    guardrails: z
      .array(
        z.object({
          type: z.string(),
          stage: z.enum(["input", "output"]),
          outcome: z.enum(["passed", "masked", "blocked", "reported", "failed"]),
          findings: z
            .record(z.string(), z.number())
            .describe("Number of matches by what they are; never their content."),
        }),
      )
      .describe("What each guardrail of the request did."),
    error_message: nullable.describe("Why the service or an upstream failed; administrators see the upstream's words."),
    stages: z
      .array(
        z.object({
          type: z
            .enum(["load", "attempt", "moderation", "turn", "tool"])
            .describe(
              "attempt: one that failed; moderation: of the prompt or the answer; turn: one of several answers of the model, between which tools ran.",
            ),
          deployment: z.string().describe("Deployment, or the tool that was called."),
          start_ms: z.number().describe("Since the request's beginning."),
          duration_ms: z.number(),
          queued_ms: numberOrNull,
          error: nullable,
          error_message: nullable,
        }),
      )
      .describe("What the request spent its time on beside the attempt that answered, in order of their beginnings."),
  })),
);

/** Content as the semantic conventions for generative AI write it. */
const RecordedPart = named(
  "RecordedPart",
  z.union([
    lazy.object(() => ({ type: z.enum(["text", "reasoning", "refusal"]), content: z.string() })),
    lazy.object(() => ({
      type: z.literal("tool_call"),
      id: z.string().optional(),
      name: z.string().optional(),
      arguments: z.string(),
    })),
    lazy.object(() => ({ type: z.literal("tool_call_response"), id: z.string().optional(), response: z.string() })),
    lazy
      .object(() => ({ type: z.literal("uri"), modality: z.enum(["image", "file"]), uri: z.string() }))
      .describe("Content on the web."),
    lazy
      .object(() => ({
        type: z.literal("blob"),
        modality: z.enum(["image", "audio", "file"]),
        name: z.string().optional(),
      }))
      .describe("Content that was in the request, without its data."),
  ]),
);

const RecordedMessage = lazy.object(() => ({
  role: z.string(),
  name: z.string().optional(),
  parts: z.array(RecordedPart),
  finish_reason: z.string().optional(),
}));

const RecordedContent = lazy.object(() => ({
  input_messages: z.array(RecordedMessage),
  output_messages: z.array(RecordedMessage).describe("One for each choice."),
  tools: z
    .array(z.object({ name: z.string(), description: z.string().optional(), parameters: z.unknown().optional() }))
    .describe("Functions that the model could call."),
  truncated: z.boolean().describe("Whether a part is missing because the content was too large."),
}));

export const RequestFeedback = named(
  "RequestFeedback",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("organization.request.feedback"),
    request_id: z.string(),
    project_id: z.string(),
    api_key_id: z.string(),
    user_id: nullable,
    score: numberOrNull.describe("0 (bad) to 1 (good)."),
    comment: nullable,
    tags: z.array(z.string()),
    created_at: seconds,
    updated_at: seconds,
  })),
);

export const RequestDetails = named(
  "RequestDetails",
  RequestEntry.extend({
    recorded: z.boolean().describe("Whether the prompt and the answer are recorded, and the caller may read them."),
    content: RecordedContent.nullable()
      .optional()
      .describe("With `include[]=content`: prompt and answer as they were recorded; null where they were not."),
    feedback: z.array(RequestFeedback).describe("Oldest first."),
  }),
);

export const RequestHistogram = named(
  "RequestHistogram",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(z.object({ start_time: z.number(), requests: count, errors: count })),
  })),
);
export const RequestPage = named(
  "RequestPage",
  lazy.object(() => ({
    object: z.literal("page"),
    data: z.array(RequestEntry),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
  })),
);

const percentiles = z.object({ p50: numberOrNull, p95: numberOrNull });

export const Overview = named(
  "Overview",
  lazy.object(() => ({
    object: z.literal("organization.overview"),
    minutes: z.array(
      z.object({
        ...{ start_time: seconds, requests: count, errors: count, input_tokens: count, output_tokens: count },
        retries: count.describe("Attempts after the first one of a request."),
        first_token_ms: percentiles,
      }),
    ),
    first_token_ms: percentiles,
    output_tokens_per_second: z.number().describe("Tokens of the answers that ended in the last 15 seconds."),
    spend: z.object({
      today_usd: z.number(),
      month_usd: z.number(),
      today_unpriced: z.boolean().describe("Whether there was usage today, none of it with a price."),
      month_unpriced: z.boolean().describe("Whether there was usage this month, none of it with a price."),
      limits: z.array(
        z.object({
          scope: z.enum(["organization", "project", "api_key"]),
          scope_id: z.string(),
          threshold_usd: z.number(),
          month_usd: numberOrNull.describe("Spent this month; null where the key may not see it."),
          enforced: z.boolean(),
        }),
      ),
    }),
    deployments: z
      .array(
        z.object({
          model: z.string(),
          task: z.string(),
          deployment: z.string(),
          engine: z.string(),
          host: nullable.describe("Host and port of an upstream."),
          state: z.string(),
          reason: nullable,
          circuit: z.string(),
          device: nullable,
          memory_bytes: numberOrNull,
          vram_bytes: numberOrNull,
          load_seconds: numberOrNull,
          loaded_at: numberOrNull.describe("End of the last load of a local model, Unix seconds."),
          restarted_at: numberOrNull.describe("Last restart of a local model after a crash, Unix seconds."),
          slots: numberOrNull,
          slots_in_use: count,
          waiting: count,
          first_token_seconds: numberOrNull,
        }),
      )
      .nullable()
      .describe("Null for keys that may not see them."),
    pools: z
      .array(
        z.object({
          model: z.string(),
          deployment: z.string(),
          source: z.string(),
          endpoints: count,
          state: z.enum(["up", "stale", "empty"]),
          reason: nullable,
        }),
      )
      .nullable()
      .describe("Deployments that stand for endpoints which come and go. Null for keys that may not see them."),
  })),
);
