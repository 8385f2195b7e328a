/** Bounds what one request continues from, because a request of a few bytes can name megabytes. */

import { invalidRequest } from "../../kernel/faults.ts";

/** Each item takes 10 µs to decrypt, and longer to convert. */
export const MAX_CONTEXT_ITEMS = 10_000;
const MAX_REFERENCES = 1_000;

/** Field of a request that names stored items. */
export type ContextParam = "previous_response_id" | "conversation" | "input";

const WAYS_OUT: Readonly<Record<ContextParam, string>> = {
  previous_response_id: "Start a new chain of responses.",
  conversation: "Start a new conversation.",
  input: "Refer to fewer items.",
};

/** Throws a Fault when a request cannot continue from so many items or bytes. */
export function checkContextSize(
  { count, bytes }: { count: number; bytes: number },
  maxBytes: number,
  param: ContextParam,
): void {
  if (bytes > maxBytes) throw exceeded(`The stored items have ${bytes} bytes, and at most ${maxBytes}`, param);
  if (count > MAX_CONTEXT_ITEMS)
    throw exceeded(`There are ${count} stored items, and at most ${MAX_CONTEXT_ITEMS}`, param);
}

function exceeded(what: string, param: ContextParam) {
  return invalidRequest(`${what} can be continued. ${WAYS_OUT[param]}`, param, "context_length_exceeded");
}

/** Throws a Fault when an input refers to too many stored items. */
export function checkReferences(count: number): void {
  if (count <= MAX_REFERENCES) return;
  const message = `The input refers to ${count} stored items; the limit is ${MAX_REFERENCES}. Continue a conversation or a response instead.`;
  throw invalidRequest(message, "input", "array_above_max_length");
}
