import type { FastifyReply } from "fastify";
import type { Settlement } from "../inference/settlement.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
import { toRateLimitHeaders } from "../wire/openai/rate-limit-headers.ts";
import { sendBytes } from "./send-bytes.ts";
import { sendEvents, type ToErrorFrame } from "./send-events.ts";

interface AnswerFacts {
  deployment: string;
  rateLimitStatus: RateLimitStatus;
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
  if ("events" in content) return sendEvents(reply, content.events, content.toErrorFrame, content.contentType);
  if ("bytes" in content) return sendBytes(reply, content.contentType, content.bytes);
  const { body, contentType = JSON_TYPE } = content;
  reply.header("content-type", contentType);
  return body;
}
