/** Which error body the client of a request reads. */

import type { FastifyRequest } from "fastify";
import { toAnthropicErrorAnswer } from "../wire/anthropic/error.ts";
import { type ErrorAnswer, toErrorAnswer } from "../wire/openai/error.ts";

/** By the path, or by the header that Anthropic's clients send with every request. */
export function speaksAnthropic({ url, headers }: Pick<FastifyRequest, "url" | "headers">): boolean {
  return headers["anthropic-version"] !== undefined || /^\/v1\/messages(?:[/?]|$)/.test(url);
}

export function toErrorAnswerFor(request: FastifyRequest, failure: unknown): ErrorAnswer<object> {
  return speaksAnthropic(request) ? toAnthropicErrorAnswer(failure, request.id) : toErrorAnswer(failure, request.id);
}
