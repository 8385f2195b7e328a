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

/** What is counted of calls of tools, and the object in which it is, by kind of usage. */
const TOOL_AMOUNTS = {
  code_interpreter_sessions: { object: "code_interpreter_sessions", amounts: { num_sessions: count } },
  file_search_calls: { object: "file_searches", amounts: { num_requests: count } },
  web_search_calls: {
    object: "web_searches",
    amounts: {
      num_requests: count,
      num_model_requests: count.describe("Equal to `num_requests`: each search counts by itself."),
    },
  },
} as const;

export type ToolUsageKind = keyof typeof TOOL_AMOUNTS;

export function toolUsagePage(kind: ToolUsageKind) {
  const { object, amounts } = TOOL_AMOUNTS[kind];
  return memberOf(toComponentName(`usage.${kind}.page`), () =>
    bucketsOf(
      lazy.object(() => ({
        object: z.literal(`organization.usage.${object}.result`),
        ...amounts,
        project_id: nullable,
        user_id: nullable.describe("Null also for service accounts, when grouped by `user_id`."),
        api_key_id: nullable,
      })),
    ),
  );
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
