import type { ChatMessage } from "../chat-model.ts";
import { messageText } from "../message-text.ts";

/**
 * The scripted engine's tokenizer: white space with up to eight characters that follow it, or the white space that ends
 * the text. Joined, the tokens are the text again, and none splits a character.
 */
export function tokenize(text: string): string[] {
  return text.match(/\s*\S{1,8}|\s+$/gu) ?? [];
}

/** Each message costs its tokens and one for its role. */
export function countPromptTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((count, message) => count + 1 + tokenize(messageText(message)).length, 0);
}
