import { type Fault, invalidRequest } from "../faults.ts";

/** A prompt that leaves no room for an answer; nothing is ever cut. */
export function contextExceeded(promptTokens: number | string, contextWindow: number): Fault {
  return invalidRequest(
    `This model's context window is ${contextWindow} tokens, but the messages take ${promptTokens} and the answer needs at least 1.`,
    "messages",
    "context_length_exceeded",
  );
}
