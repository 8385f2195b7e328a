/** Schemas of answers about single requests: history, content and feedback. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { named } from "./named.ts";

const seconds = z.int();
const count = z.int().min(0);
const nullable = z.string().nullable();
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
