/** Estimates token counts without a tokenizer: English text has about four bytes per token. */

import { jsonBytes } from "../kernel/json/json-bytes.ts";
import type { ChatMessage } from "./chat-message.ts";
import type { ChatRequest, RawPrompt } from "./chat-model.ts";
import { imagesIn, messageText } from "./message-text.ts";

const BYTES_PER_TOKEN = 4;
/** Typical token count of an image at high detail. */
const TOKENS_PER_IMAGE = 1024;

export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * Estimates the tokens of a chat request: text, tool calls, tools, format and images. `bodyBytes`: size of the caller's
 * body if it is forwarded, which may contain more, such as earlier reasoning. `hiddenBytes`: of texts and arguments that
 * the messages leave out.
 */
export function estimatePromptTokens(
  { messages, tools, format }: Pick<ChatRequest, "tools" | "format"> & { messages: readonly ChatMessage[] },
  bodyBytes = 0,
  hiddenBytes = 0,
): number {
  let text = 0;
  let images = 0;
  let plainBytes = jsonBytes([[], { type: "text" }]);
  let completeBytes = jsonBytes([tools, format]);
  for (const message of messages) {
    const bytes = Buffer.byteLength(messageText(message));
    text += Math.ceil(bytes / BYTES_PER_TOKEN);
    images += imagesIn(message).length;
    plainBytes += jsonBytes({ role: message.role, content: "" }) + bytes;
    completeBytes += messageBytes(message);
  }
  const extraBytes = Math.max(0, completeBytes - plainBytes, bodyBytes - hiddenBytes - plainBytes);
  return (
    text +
    Math.floor(hiddenBytes / BYTES_PER_TOKEN) +
    Math.floor(extraBytes / BYTES_PER_TOKEN) +
    TOKENS_PER_IMAGE * images
  );
}

/** Returns the bytes of prompts that bypass the chat template; a token ID counts as a token of average length. */
export function rawPromptBytes(prompts: readonly RawPrompt[]): number {
  return prompts.reduce((sum, { input, suffix = "" }) => {
    const bytes = typeof input === "string" ? Buffer.byteLength(input) : BYTES_PER_TOKEN * input.length;
    return sum + bytes + Buffer.byteLength(suffix);
  }, 0);
}

const CONTENT_ENTRY_BYTES = jsonBytes({ role: "", content: "" }) - jsonBytes({ role: "" });

/** Bytes of a message as JSON, with its content as one text and without images. */
export function messageBytes(message: ChatMessage): number {
  return jsonBytes(message, "content") + CONTENT_ENTRY_BYTES + Buffer.byteLength(messageText(message));
}
