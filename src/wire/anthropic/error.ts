/** Error bodies in Anthropic's format. The status is the same for every format. */

import { Fault, type FaultKind } from "../../kernel/faults.ts";
import { type ErrorAnswer, toErrorAnswer, toErrorBody } from "../openai/error.ts";
import { THREAD_UNSUPPORTED } from "./messages-body.ts";
import { toRateLimitHeaders } from "./rate-limit-headers.ts";

interface ErrorBody {
  type: "error";
  error: { type: string; message: string; details?: { error_code: string; unsupported: string[] } };
  request_id: string;
}

const TYPES: Record<FaultKind, string> = {
  "invalid-request": "invalid_request_error",
  unsupported: "invalid_request_error",
  unauthenticated: "authentication_error",
  forbidden: "permission_error",
  "not-found": "not_found_error",
  "method-not-allowed": "invalid_request_error",
  "request-too-slow": "timeout_error",
  conflict: "invalid_request_error",
  "precondition-failed": "invalid_request_error",
  "body-too-large": "request_too_large",
  "unsupported-media-type": "invalid_request_error",
  "expectation-failed": "invalid_request_error",
  "request-rate-limited": "rate_limit_error",
  "token-rate-limited": "rate_limit_error",
  "quota-exhausted": "rate_limit_error",
  "headers-too-large": "invalid_request_error",
  "upstream-failed": "api_error",
  "upstream-refused": "api_error",
  "answer-unfit": "api_error",
  unavailable: "overloaded_error",
  "upstream-timeout": "timeout_error",
  "client-left": "api_error",
};

/** Renders a failure with its status and headers, as `toErrorAnswer` does. */
export function toAnthropicErrorAnswer(failure: unknown, requestId: string): ErrorAnswer<ErrorBody> {
  const { status, headers } = toErrorAnswer(failure, requestId);
  const limits = failure instanceof Fault ? toRateLimitHeaders(failure.limits ?? {}) : {};
  return {
    status,
    headers: { ...headers, ...limits, "request-id": requestId },
    body: toAnthropicErrorBody(failure, requestId),
  };
}

export function toAnthropicErrorBody(failure: unknown, requestId: string): ErrorBody {
  const { message } = toErrorBody(failure, requestId).error;
  const type = failure instanceof Fault ? TYPES[failure.kind] : "api_error";
  const details = isThreadUnsupported(failure)
    ? { details: { error_code: THREAD_UNSUPPORTED, unsupported: ["thread"] } }
    : {};
  return { type: "error", error: { type, message, ...details }, request_id: requestId };
}

function isThreadUnsupported(failure: unknown): boolean {
  return failure instanceof Fault && failure.code === THREAD_UNSUPPORTED;
}
