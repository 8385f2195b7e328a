import { type Fault, invalidRequest } from "../faults.ts";

/** Fault of a prompt that leaves no room for an answer. Parlance does not truncate prompts. */
export function contextExceeded(promptTokens: number | string, contextWindow: number): Fault {
  return invalidRequest(
    `This model's context window is ${contextWindow} tokens, but the messages take ${promptTokens} and the answer needs at least 1.`,
    "messages",
    "context_length_exceeded",
  );
}
