/** Errors as Google's APIs write them (google.rpc.Status). */

import { z } from "zod";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { type ErrorAnswer, toErrorAnswer, toErrorBody } from "../openai/error.ts";
import { type AnswerOf, named } from "../openapi/named.ts";

export const GeminiErrorAnswer = named(
  "GeminiError",
  lazy.object(() => ({
    error: z.object({
      code: z.int(),
      message: z.string(),
      status: z.string(),
      details: z
        .array(
          z.object({
            "@type": z.string(),
            reason: z.string().optional(),
            domain: z.string().optional(),
            retryDelay: z.string().optional(),
          }),
        )
        .optional()
        .describe("`ErrorInfo` with the code of the error, and `RetryInfo` with the wait."),
    }),
  })),
);

const STATUSES: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  412: "FAILED_PRECONDITION",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const TYPES = "type.googleapis.com/google.rpc";

export function toGeminiErrorAnswer(
  failure: unknown,
  requestId: string,
): ErrorAnswer<AnswerOf<typeof GeminiErrorAnswer>> {
  const answer = toErrorAnswer(failure, requestId);
  return { ...answer, body: toBody(failure, requestId, answer) };
}

export function toGeminiErrorBody(failure: unknown, requestId: string): AnswerOf<typeof GeminiErrorAnswer> {
  return toGeminiErrorAnswer(failure, requestId).body;
}

function toBody(failure: unknown, requestId: string, { status: code, headers }: ErrorAnswer) {
  const { message, code: reason } = toErrorBody(failure, requestId).error;
  const delay = headers["retry-after"];
  const details = [
    ...(reason === null
      ? []
      : [{ "@type": `${TYPES}.ErrorInfo`, reason: reasonOf(failure, reason), domain: "parlance" }]),
    ...(delay === undefined ? [] : [{ "@type": `${TYPES}.RetryInfo`, retryDelay: `${delay}s` }]),
  ];
  const status = STATUSES[code] ?? "INVALID_ARGUMENT";
  return { error: { code, message, status, ...(details.length > 0 && { details }) } };
}

/** Clients look for the reason of a wrong key, of which they ask for another one. */
function reasonOf(failure: unknown, code: string): string {
  const isWrongKey = failure instanceof Fault && failure.code === "invalid_api_key";
  return isWrongKey ? "API_KEY_INVALID" : code.toUpperCase();
}
