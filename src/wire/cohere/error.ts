/** Errors in Cohere's format. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { type ErrorAnswer, toErrorAnswer, toErrorBody } from "../openai/error.ts";
import { type AnswerOf, named } from "../openapi/named.ts";

export const CohereError = named(
  "CohereError",
  lazy.object(() => ({ id: z.string().describe("ID of the request."), message: z.string() })),
);

function toCohereErrorBody(failure: unknown, requestId: string): AnswerOf<typeof CohereError> {
  return { id: requestId, message: toErrorBody(failure, requestId).error.message };
}

export function toCohereErrorAnswer(failure: unknown, requestId: string): ErrorAnswer<AnswerOf<typeof CohereError>> {
  return { ...toErrorAnswer(failure, requestId), body: toCohereErrorBody(failure, requestId) };
}

/** Renders the end of a stream that failed, as Cohere's clients read it. Nothing is known of its usage. */
export function toCohereErrorFrame(failure: unknown, requestId: string): string {
  const { id, message: error } = toCohereErrorBody(failure, requestId);
  return toCohereFrame("message-end", { id, delta: { finish_reason: "ERROR", error } });
}

/** Renders an event of a stream. */
export function toCohereFrame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
