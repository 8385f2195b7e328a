import type { ChatRequest } from "../../contracts/chat-model.ts";

/** Call of a chat model in another process that counts the tokens of a prompt. */
export interface CountCall {
  counted: ChatRequest;
}

export function isCountCall(input: unknown): input is CountCall {
  return typeof input === "object" && input !== null && "counted" in input;
}
