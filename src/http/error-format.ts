/** Selects the format of error bodies for a request. */

import type { FastifyRequest } from "fastify";
import { toAnthropicErrorAnswer } from "../wire/anthropic/error.ts";
import { toCohereErrorAnswer } from "../wire/cohere/error.ts";
import { toGeminiErrorAnswer } from "../wire/gemini/error.ts";
import { toOllamaErrorAnswer } from "../wire/ollama/error.ts";
import { type ErrorAnswer, toErrorAnswer } from "../wire/openai/error.ts";
import { toScimErrorAnswer } from "../wire/scim/scim-error.ts";

/** Detects Anthropic's format by the path, or by the header that Anthropic's clients send with every request. */
export function speaksAnthropic({ url, headers }: Pick<FastifyRequest, "url" | "headers">): boolean {
  return headers["anthropic-version"] !== undefined || /^\/v1\/messages(?:[/?]|$)/.test(url);
}

/** Detects Ollama's API by the path. */
function speaksOllama({ url }: Pick<FastifyRequest, "url">): boolean {
  return url.startsWith("/api/");
}

/** Detects Gemini's API by the path, or by a header that Google's clients send with every request. */
export function speaksGemini({ method, url, headers }: Pick<FastifyRequest, "method" | "url" | "headers">): boolean {
  return (
    url.startsWith("/v1beta/") ||
    (method === "POST" && url.startsWith("/v1/models/")) ||
    headers["x-goog-api-key"] !== undefined ||
    headers["x-goog-api-client"] !== undefined
  );
}

/** Detects Cohere's API by the path. */
function speaksCohere({ url }: Pick<FastifyRequest, "url">): boolean {
  return url.startsWith("/v2/");
}

/** Detects SCIM by the path. */
export function speaksScim({ url }: Pick<FastifyRequest, "url">): boolean {
  return url.startsWith("/scim/");
}

export function toErrorAnswerFor(request: FastifyRequest, failure: unknown): ErrorAnswer<object> {
  if (speaksScim(request)) return toScimErrorAnswer(failure, request.id);
  if (speaksOllama(request)) return toOllamaErrorAnswer(failure, request.id);
  if (speaksCohere(request)) return toCohereErrorAnswer(failure, request.id);
  if (speaksGemini(request)) return toGeminiErrorAnswer(failure, request.id);
  return speaksAnthropic(request) ? toAnthropicErrorAnswer(failure, request.id) : toErrorAnswer(failure, request.id);
}
