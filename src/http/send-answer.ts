import type { FastifyReply } from "fastify";
import type { CacheOutcome } from "../inference/cache/cache-outcome.ts";
import type { Settlement } from "../inference/settlement.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
import { toRateLimitHeaders } from "../wire/openai/rate-limit-headers.ts";
import { sendBytes } from "./send-bytes.ts";
import { sendEvents, type ToErrorFrame } from "./send-events.ts";

interface AnswerFacts {
  deployment: string;
  fallbackOccasion?: "context_length" | undefined;
  rateLimitStatus: RateLimitStatus;
  /** Undefined for a model without a cache. */
  cache?: CacheOutcome | undefined;
  settlement(): Settlement | undefined;
}

/** Forms of an answer: complete, a stream of bytes, or events: server-sent unless `contentType` says otherwise. */
export type AnswerContent =
  | { body: string | object | Promise<string | object>; contentType?: string }
  | { bytes: AsyncIterable<Uint8Array>; contentType: string }
  | { events: AsyncIterable<string | Uint8Array>; toErrorFrame?: ToErrorFrame; contentType?: string };

const JSON_TYPE = "application/json; charset=utf-8";

/**
 * Sends the answer of an inference with the common headers and records it for the request's log line. A handler returns
 * this function's result.
 */
export function sendAnswer(reply: FastifyReply, answer: AnswerFacts, content: AnswerContent): unknown {
  reply.request.record.settlement = answer.settlement;
  reply.header("x-parlance-deployment", answer.deployment).headers(toRateLimitHeaders(answer.rateLimitStatus));
  if (answer.fallbackOccasion !== undefined) reply.header("x-parlance-fallback", answer.fallbackOccasion);
  if (answer.cache !== undefined) reply.headers(toCacheHeaders(answer.cache));
  if ("events" in content) return sendEvents(reply, content.events, content.toErrorFrame, content.contentType);
  if ("bytes" in content) return sendBytes(reply, content.contentType, content.bytes);
  const { body, contentType = JSON_TYPE } = content;
  reply.header("content-type", contentType);
  return body;
}

/** `age`: RFC 9111, section 5.1. */
function toCacheHeaders(cache: CacheOutcome): Record<string, string> {
  if (cache.status === "bypass") return { "x-parlance-cache": "bypass", "x-parlance-cache-reason": cache.reason };
  const headers = { "x-parlance-cache": cache.status, "x-parlance-cache-key": cache.key };
  return cache.status === "hit" ? { ...headers, age: String(cache.ageSeconds) } : headers;
}
