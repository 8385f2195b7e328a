/** Estimates token counts without a tokenizer: English text has about four bytes per token. */

import { jsonBytes } from "../json-bytes.ts";
import type { ChatRequest } from "./chat-model.ts";
import { imagesIn, messageText } from "./message-text.ts";

const BYTES_PER_TOKEN = 4;
/** Typical token count of an image at high detail. */
const TOKENS_PER_IMAGE = 1024;

export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * Estimates the tokens of a chat request: text, tool calls, tools, format and images. `bodyBytes`: size of the caller's
 * body if it is forwarded, which may contain more, such as earlier reasoning.
 */
export function estimatePromptTokens(
  { messages, tools, format }: Pick<ChatRequest, "messages" | "tools" | "format">,
  bodyBytes = 0,
): number {
  let text = 0;
  let images = 0;
  for (const message of messages) {
    text += estimateTextTokens(messageText(message));
    images += imagesIn(message).length;
  }
  const plain = messages.map((message) => ({ role: message.role, content: messageText(message) }));
  const complete = messages.map((message, index) => ({ ...message, ...plain[index] }));
  const plainBytes = jsonBytes([plain, [], { type: "text" }]);
  const extraBytes = Math.max(0, jsonBytes([complete, tools, format]) - plainBytes, bodyBytes - plainBytes);
  return text + Math.floor(extraBytes / BYTES_PER_TOKEN) + TOKENS_PER_IMAGE * images;
}
