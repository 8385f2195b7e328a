import type { ChatMessage, ToolCall } from "../contracts/chat-message.ts";

/** Adds a call to a message that the caller has built. In place: a copy for each of thousands of calls takes seconds. */
export function appendToolCall(message: ChatMessage, call: ToolCall): void {
  const calls = (message.toolCalls ?? []) as ToolCall[];
  calls.push(call);
  message.toolCalls = calls;
}
