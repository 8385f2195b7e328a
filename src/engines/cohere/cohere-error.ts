import type { ReadError, Refusal } from "../native-upstream/chat-dialect.ts";
import { fieldsOf, textOf } from "../native-upstream/native-events.ts";
import { parseUpstreamError } from "../openai-compatible/upstream-error.ts";

/** Reads errors of Cohere's API, which consist of a message; 498 stands for a token that is not valid. */
export function readCohereError({ body, status }: Refusal): ReadError | undefined {
  const message = textOf(fieldsOf(body).message);
  const error = message === "" ? undefined : parseUpstreamError({ error: { message } });
  return error && { error, status: status === 498 ? 401 : status };
}
