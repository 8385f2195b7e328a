/** Batches as OpenAI's clients create and read them. */

import { z } from "zod";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { lazy } from "../../kernel/lazy.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { Metadata } from "../responses/metadata.ts";
import { FileExpiry } from "./files.ts";
import { optional } from "./optional.ts";
import { PAGE_QUERY, toSeconds, toSecondsOrNull } from "./organization/organization-list.ts";

const BATCH_ENDPOINTS = [
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/moderations",
  "/v1/responses",
  "/v1/images/generations",
  "/v1/images/edits",
  "/v1/messages",
] as const;

export const Batch = named(
  "Batch",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.enum(BATCH_ENDPOINTS),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable().describe("Number of the line in the input, from 1."),
          }),
        ),
      })
      .optional(),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum([
      "validating",
      "in_progress",
      "finalizing",
      "cancelling",
      "completed",
      "failed",
      "expired",
      "cancelled",
    ]),
    output_file_id: z.string().optional(),
    error_file_id: z.string().optional(),
    created_at: z.int(),
    in_progress_at: z.int().optional(),
    expires_at: z.int(),
    finalizing_at: z.int().optional(),
    completed_at: z.int().optional(),
    failed_at: z.int().optional(),
    expired_at: z.int().optional(),
    cancelling_at: z.int().optional(),
    cancelled_at: z.int().optional(),
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z.object({ cached_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .describe("Tokens of the lines that are answered so far."),
    metadata: z.record(z.string(), z.string()).nullable(),
  })),
);

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const MAX_WINDOW_SECONDS = 7 * DAY_SECONDS;

const window = z.string().refine((value) => isWithin(windowSeconds(value), 1, MAX_WINDOW_SECONDS), {
  error: "it must be a number and s, m or h, such as 24h, of at most 168h",
});

export const BatchBody = named(
  "BatchBody",
  lazy.looseObject(() => ({
    input_file_id: z.string().min(1).max(200),
    endpoint: z.enum(BATCH_ENDPOINTS),
    completion_window: window.describe("Time until the batch expires, such as 24h."),
    metadata: optional(Metadata),
    output_expires_after: optional(FileExpiry),
  })),
);

export const BatchListQuery = z.looseObject(PAGE_QUERY);

/** Seconds of a window such as `24h`; NaN for other texts. */
export function windowSeconds(window: string): number {
  const [, count, unit = ""] = /^(\d{1,7})([smh])$/.exec(window) ?? [];
  return Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN);
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

/** Problem of a line of the input; `line` counts from 1. */
export interface BatchError {
  code: string;
  message: string;
  param: string | null;
  line: number | null;
}

export interface ShownBatch {
  id: string;
  endpoint: string;
  inputFileId: string;
  completionWindow: string;
  status: AnswerOf<typeof Batch>["status"];
  /** JSON object. */
  metadata: string | null;
  /** JSON list of `BatchError`. */
  errors: string | null;
  /** Lines of the input. */
  total: number;
  /** Lines answered with success, and those answered with an error. */
  completed: number;
  failed: number;
  /** Failed lines that were not answered before the end. */
  unanswered: number;
  /** Sums over the answered lines. */
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  outputFileId: string | null;
  errorFileId: string | null;
  createdAt: number;
  expiresAt: number;
  inProgressAt: number | null;
  finalizingAt: number | null;
  cancellingAt: number | null;
  endedAt: number | null;
}

/** Fields without a value are absent: OpenAI's document has no null but in `metadata`. */
export function toBatchObject(batch: ShownBatch): AnswerOf<typeof Batch> {
  const seconds = (time: number | null) => toSecondsOrNull(time) ?? undefined;
  const endedAs = (status: string) => (batch.status === status ? seconds(batch.endedAt) : undefined);
  return {
    id: batch.id,
    object: "batch" as const,
    // Checked when the batch was created.
    endpoint: batch.endpoint as AnswerOf<typeof Batch>["endpoint"],
    errors:
      batch.errors === null ? undefined : { object: "list" as const, data: JSON.parse(batch.errors) as BatchError[] },
    input_file_id: batch.inputFileId,
    completion_window: batch.completionWindow,
    status: batch.status,
    output_file_id: batch.outputFileId ?? undefined,
    error_file_id: batch.errorFileId ?? undefined,
    created_at: toSeconds(batch.createdAt),
    in_progress_at: seconds(batch.inProgressAt),
    expires_at: toSeconds(batch.expiresAt),
    finalizing_at: seconds(batch.finalizingAt),
    completed_at: endedAs("completed"),
    failed_at: endedAs("failed"),
    expired_at: endedAs("expired"),
    cancelling_at: seconds(batch.cancellingAt),
    cancelled_at: endedAs("cancelled"),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    usage: {
      input_tokens: batch.promptTokens,
      input_tokens_details: { cached_tokens: batch.cachedTokens },
      output_tokens: batch.completionTokens,
      output_tokens_details: { reasoning_tokens: batch.reasoningTokens },
      total_tokens: batch.promptTokens + batch.completionTokens,
    },
    metadata: batch.metadata === null ? null : (JSON.parse(batch.metadata) as Record<string, string>),
  };
}
