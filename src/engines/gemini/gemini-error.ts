import type { ReadError, Refusal } from "../native-upstream/chat-dialect.ts";
import { fieldsOf, listOf, textOf } from "../native-upstream/native-events.ts";
import { parseUpstreamError } from "../openai-compatible/upstream-error.ts";

/** Reads errors of Google's APIs (google.rpc.Status): the wait is in their details, and a wrong key is a 400. */
export function readGoogleError({ body, status }: Refusal): ReadError | undefined {
  const error = parseUpstreamError(body);
  if (error === undefined) return undefined;
  const details = listOf(fieldsOf(fieldsOf(Array.isArray(body) ? body[0] : body).error).details);
  const delay = details.map(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay))?.[1]).find(Boolean);
  const isWrongKey = details.some(({ reason }) => reason === "API_KEY_INVALID");
  return {
    error,
    status: isWrongKey ? 401 : status,
    retryAfterSeconds: delay === undefined ? undefined : Math.max(1, Math.ceil(Number(delay))),
  };
}
