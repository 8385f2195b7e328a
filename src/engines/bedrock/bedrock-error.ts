import type { ReadError, Refusal } from "../native-upstream/chat-dialect.ts";
import { fieldsOf, textOf } from "../native-upstream/native-events.ts";
import { parseUpstreamError, UpstreamError } from "../openai-compatible/upstream-error.ts";

/** Statuses of exceptions, from the API reference of ConverseStream; those of a stream come without one. */
const STATUSES: Readonly<Record<string, number>> = {
  accessdenied: 403,
  internalserver: 500,
  modelerror: 500,
  modelnotready: 503,
  modelstreamerror: 500,
  modeltimeout: 504,
  resourcenotfound: 404,
  servicequotaexceeded: 429,
  serviceunavailable: 503,
  throttling: 429,
  validation: 400,
  unrecognizedclient: 403,
  expiredtoken: 403,
  invalidsignature: 403,
};

/** `type`: name of the exception, such as ThrottlingException. */
export function toBedrockError(type: string, body: unknown): UpstreamError {
  const { message, Message } = fieldsOf(body);
  const name = type.replace(/[:#].*$/, "").replace(/Exception$/i, "");
  const status = STATUSES[name.toLowerCase()];
  const parsed = parseUpstreamError({ error: { message: textOf(message) || textOf(Message), code: name, status } });
  if (parsed?.details.code === "context_length_exceeded") return parsed;
  return new UpstreamError("answered with an error", { ...parsed?.details, status });
}

export function readBedrockError({ body, status, headers }: Refusal): ReadError {
  const error = toBedrockError(textOf(headers["x-amzn-errortype"]), body);
  return { error, status: error.details.status ?? status };
}
