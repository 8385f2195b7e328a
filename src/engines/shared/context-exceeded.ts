import type { ChatRequest } from "../../contracts/chat-model.ts";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";

/** Fault of a prompt that leaves no room for an answer. Parlance does not truncate prompts. */
export function contextExceeded(
  promptTokens: number | string,
  contextWindow: number,
  { prompt }: Partial<Pick<ChatRequest, "prompt">> = {},
): Fault {
  const [subject, param] = prompt === undefined ? ["messages take", "messages"] : ["prompt takes", "prompt"];
  return invalidRequest(
    `This model's context window is ${contextWindow} tokens, but the ${subject} ${promptTokens} and the answer needs at least 1.`,
    param,
    "context_length_exceeded",
  );
}
