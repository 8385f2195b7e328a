import type { ChatMessage, ImagePart, TextMessage } from "../../contracts/chat-model.ts";

/** Returns the text of a message, without its images. */
export function messageText({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function toTextMessage(message: ChatMessage): TextMessage {
  return { ...message, content: messageText(message) };
}

export function imagesIn({ content }: ChatMessage): ImagePart[] {
  return typeof content === "string" ? [] : content.filter((part) => part.type === "image");
}
