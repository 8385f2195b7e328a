/** Errors of Anthropic's API, as bodies and as events of a stream. */

import type { ReadError, Refusal } from "../native-upstream/chat-dialect.ts";
import { fieldsOf, textOf } from "../native-upstream/native-events.ts";
import { parseUpstreamError, UpstreamError } from "../openai-compatible/upstream-error.ts";

/** Statuses of the types, from https://platform.claude.com/docs/en/api/errors. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** A key without credit is refused as if the request were wrong. */
const NO_CREDIT = /credit balance is too low/i;

export function errorIn(body: unknown): UpstreamError {
  const { type, message } = fieldsOf(fieldsOf(body).error);
  const parsed = parseUpstreamError(body);
  if (parsed?.details.code === "context_length_exceeded") return parsed;
  const name = textOf(type);
  const status = NO_CREDIT.test(textOf(message)) ? 402 : STATUSES[name];
  return new UpstreamError("answered with an error", {
    message: textOf(message) || undefined,
    code: name || undefined,
    status,
  });
}

export function readAnthropicError({ body, status }: Refusal): ReadError | undefined {
  if (fieldsOf(body).error === undefined) return undefined;
  const error = errorIn(body);
  return { error, status: status === 400 ? error.details.status : status };
}
