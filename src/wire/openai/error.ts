/** Error bodies, and the table that maps each kind of failure to an HTTP status. */

import { Fault, type FaultKind } from "../../kernel/faults.ts";
import { toRateLimitHeaders } from "./rate-limit-headers.ts";

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export interface ErrorAnswer<Body = ErrorBody> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

const STATUS_AND_TYPE: Record<FaultKind, readonly [status: number, type: string]> = {
  "invalid-request": [400, "invalid_request_error"],
  unsupported: [400, "invalid_request_error"],
  unauthenticated: [401, "invalid_request_error"],
  forbidden: [403, "invalid_request_error"],
  "not-found": [404, "invalid_request_error"],
  "method-not-allowed": [405, "invalid_request_error"],
  "request-too-slow": [408, "timeout_error"],
  conflict: [409, "invalid_request_error"],
  "precondition-failed": [412, "invalid_request_error"],
  "body-too-large": [413, "invalid_request_error"],
  "unsupported-media-type": [415, "invalid_request_error"],
  "expectation-failed": [417, "invalid_request_error"],
  "request-rate-limited": [429, "requests"],
  "token-rate-limited": [429, "tokens"],
  "quota-exhausted": [429, "insufficient_quota"],
  "headers-too-large": [431, "invalid_request_error"],
  "upstream-failed": [502, "server_error"],
  "upstream-refused": [502, "server_error"],
  "answer-unfit": [502, "server_error"],
  unavailable: [503, "service_unavailable_error"],
  "upstream-timeout": [504, "server_error"],
  // Never sent: nginx's log status for a client that disconnected.
  "client-left": [499, "invalid_request_error"],
};

/** Error codes of failures that do not set one. */
const DEFAULT_CODES: Partial<Record<FaultKind, string>> = {
  forbidden: "permission_denied",
  "not-found": "not_found",
  "method-not-allowed": "method_not_allowed",
};

/** Maximum Retry-After: OpenAI's clients ignore a longer one and retry at once. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** Failures that a retry cannot fix, so clients get `x-should-retry: false`. */
const NEVER_RETRY: ReadonlySet<FaultKind> = new Set(["quota-exhausted"]);

/** Renders a failure with its status and headers: Retry-After, rate limits, and whether a retry may help. */
export function toErrorAnswer(failure: unknown, requestId: string): ErrorAnswer {
  const body = toErrorBody(failure, requestId);
  if (!(failure instanceof Fault)) return { status: 500, headers: {}, body };
  const headers: Record<string, string> = {};
  if (failure.retryAfterSeconds !== undefined) {
    const seconds = Math.min(Math.max(1, Math.ceil(failure.retryAfterSeconds)), MAX_RETRY_AFTER_SECONDS);
    headers["retry-after"] = String(seconds);
  }
  if (failure.kind === "unauthenticated") headers["www-authenticate"] = 'Bearer realm="Parlance"';
  Object.assign(headers, toRateLimitHeaders(failure.limits ?? {}));
  if (NEVER_RETRY.has(failure.kind) || failure.isFinal) headers["x-should-retry"] = "false";
  return { status: STATUS_AND_TYPE[failure.kind][0], headers, body };
}

/**
 * Renders a failure. Any error other than a Fault is a bug, whose message appears only in the log under the request's
 * ID.
 */
export function toErrorBody(failure: unknown, requestId: string): ErrorBody {
  if (!(failure instanceof Fault)) {
    const message = `The server failed while it handled this request. See the service log for the cause (request ID ${requestId}).`;
    return { error: { message, type: "server_error", param: null, code: null } };
  }
  return {
    error: {
      message: failure.message,
      type: STATUS_AND_TYPE[failure.kind][1],
      param: failure.param ?? null,
      code: failure.code ?? DEFAULT_CODES[failure.kind] ?? null,
    },
  };
}
