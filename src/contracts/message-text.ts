import type { ChatMessage, ContentPart, FilePart, ImagePart, TextMessage } from "./chat-message.ts";

/** Returns the text of a message, without its images and files. */
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

export function filesIn({ content }: ChatMessage): FilePart[] {
  return typeof content === "string" ? [] : content.filter((part) => part.type === "file");
}

/** Returns the content as parts, with a text cut where it has cache marks. Parts without text are left out. */
export function contentParts({ content, cacheMarks = [] }: ChatMessage): readonly ContentPart[] {
  if (typeof content !== "string") return content;
  const parts: ContentPart[] = [];
  let from = 0;
  for (const { end, ttl } of cacheMarks) {
    const text = content.slice(from, end);
    if (text !== "") parts.push({ type: "text", text, cache: { ttl } });
    from = end;
  }
  const rest = content.slice(from);
  if (rest !== "") parts.push({ type: "text", text: rest });
  return parts;
}

/** Joins the texts of parts to one content with the marks in their places; keeps parts other than texts. */
export function toContent(
  parts: readonly ContentPart[],
  separator = "",
): Pick<ChatMessage, "content"> & Partial<Pick<ChatMessage, "cacheMarks">> {
  if (parts.some(({ type }) => type !== "text")) return { content: parts };
  const marks: NonNullable<ChatMessage["cacheMarks"]>[number][] = [];
  let content = "";
  for (const [index, part] of parts.entries()) {
    if (part.type !== "text") continue;
    if (index > 0) content += separator;
    content += part.text;
    if (part.cache !== undefined) marks.push({ end: content.length, ttl: part.cache.ttl });
  }
  return marks.length === 0 ? { content } : { content, cacheMarks: marks };
}
