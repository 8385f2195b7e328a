import type { ChatMessage } from "../../contracts/chat-message.ts";
import { messageText } from "../../contracts/message-text.ts";

/**
 * The scripted engine's tokenizer: white space with up to eight characters after it, or the white space at the end of
 * the text. The joined tokens equal the text, and no token splits a character.
 */
export function tokenize(text: string): string[] {
  return text.match(/\s*\S{1,8}|\s+$/gu) ?? [];
}

/** Counts the tokens of each message, and one for its role. */
export function countPromptTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((count, message) => count + 1 + tokenize(messageText(message)).length, 0);
}
