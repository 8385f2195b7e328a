/** Message Batches as Anthropic's clients create and read them: batches of the endpoint /v1/messages. */

import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parsedListOf } from "../../kernel/list-of.ts";
import type { ShownBatch } from "../openai/batches.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { AnthropicErrorAnswer } from "../openapi/service-answers.ts";
import { toTime } from "./lists.ts";
import { Message } from "./message-answers.ts";

export const MESSAGE_ENDPOINT = "/v1/messages";

const count = z.int().min(0);
const timeOrNull = z.string().nullable();

export const MessageBatch = named(
  "MessageBatch",
  lazy.object(() => ({
    id: z.string(),
    type: z.literal("message_batch"),
    processing_status: z.enum(["in_progress", "canceling", "ended"]),
    request_counts: z.object({
      processing: count,
      succeeded: count,
      errored: count,
      canceled: count,
      expired: count,
    }),
    created_at: z.string(),
    expires_at: z.string(),
    ended_at: timeOrNull,
    cancel_initiated_at: timeOrNull,
    archived_at: z.null(),
    results_url: z.string().nullable().describe("Null until the batch has ended, and for one that was not begun."),
  })),
);

export const DeletedMessageBatch = named(
  "DeletedMessageBatch",
  lazy.object(() => ({ id: z.string(), type: z.literal("message_batch_deleted") })),
);

export const MessageBatchResult = named(
  "MessageBatchResult",
  lazy.object(() => ({
    custom_id: z.string(),
    result: z.union([
      z.object({ type: z.literal("succeeded"), message: Message }),
      z.object({ type: z.literal("errored"), error: AnthropicErrorAnswer }),
      z.object({ type: z.enum(["canceled", "expired"]) }),
    ]),
  })),
);

export const MessageBatchBody = named(
  "MessageBatchBody",
  lazy.looseObject(() => ({
    requests: parsedListOf(
      z.object({
        custom_id: z.string().min(1).max(64),
        params: z.looseObject({
          model: z.string().min(1),
          stream: z.literal(false, { error: "a batch cannot stream" }).nullish(),
        }),
      }),
    ).min(1),
  })),
);

type BatchRequests = z.output<typeof MessageBatchBody>["requests"];

/** Throws a Fault for too many requests, and for two of one `custom_id`. */
export function checkRequests(requests: BatchRequests, max: number): void {
  if (requests.length > max) {
    const message = `The batch has ${requests.length} requests; at most ${max} are possible. Split it into several batches.`;
    throw invalidRequest(message, "requests", "invalid_value");
  }
  const indexes = new Map<string, number>();
  for (const [index, { custom_id: id }] of requests.entries()) {
    const first = indexes.get(id);
    if (first !== undefined) {
      const param = `requests[${index}].custom_id`;
      throw invalidRequest(`'${param}' is also that of requests[${first}].`, param, "invalid_value");
    }
    indexes.set(id, index);
  }
}

/** Yields the requests as lines of a batch's input. */
export function* toInputLines(requests: BatchRequests): Generator<string> {
  for (const { custom_id, params } of requests) {
    yield `${JSON.stringify({ custom_id, method: "POST", url: MESSAGE_ENDPOINT, body: params })}\n`;
  }
}

/** `origin`: of the service, as the caller reaches it. */
export function toMessageBatch(batch: ShownBatch, origin: string): AnswerOf<typeof MessageBatch> {
  const { id, status, completed, failed, endedAt } = batch;
  const hasEnded = endedAt !== null;
  const open = Math.max(0, batch.total - completed - failed);
  // A batch that ends before its input is read has no lines.
  const unanswered = hasEnded ? batch.unanswered + open : 0;
  const isStopped = status === "cancelled" || status === "expired";
  return {
    id,
    type: "message_batch",
    processing_status: hasEnded ? "ended" : status === "cancelling" ? "canceling" : "in_progress",
    request_counts: {
      processing: hasEnded ? 0 : open,
      succeeded: completed,
      errored: failed - batch.unanswered + (isStopped ? 0 : unanswered),
      canceled: status === "cancelled" ? unanswered : 0,
      expired: status === "expired" ? unanswered : 0,
    },
    created_at: toTime(batch.createdAt),
    expires_at: toTime(batch.expiresAt),
    ended_at: hasEnded ? toTime(endedAt) : null,
    cancel_initiated_at: batch.cancellingAt === null ? null : toTime(batch.cancellingAt),
    archived_at: null,
    results_url:
      hasEnded && (batch.outputFileId ?? batch.errorFileId) !== null
        ? `${origin}/v1/messages/batches/${id}/results`
        : null,
  };
}

/** Converts a line of the output or the error file. */
export function toResultLine(json: string): string {
  const { custom_id, response, error } = JSON.parse(json) as ResultLine;
  return `${JSON.stringify({ custom_id, result: toResult(response, error) })}\n`;
}

interface ResultLine {
  custom_id: string;
  response: { status_code: number; body: object } | null;
  error: { code: string } | null;
}

function toResult(response: ResultLine["response"], error: ResultLine["error"]): object {
  if (response === null) return { type: error?.code === "batch_expired" ? "expired" : "canceled" };
  const { status_code: status, body } = response;
  return status < 400 ? { type: "succeeded", message: body } : { type: "errored", error: body };
}
