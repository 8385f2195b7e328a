import type { ContentMessage, ContentPart } from "../contracts/chat-content.ts";

interface LimitedMessages {
  /** A JSON array of messages. */
  json: string;
  isTruncated: boolean;
}

/** Keeps the newest or the oldest messages within the limit, and the beginning of the first that exceeds it. */
export function limitMessages(
  messages: readonly ContentMessage[],
  maxBytes: number,
  keep: "newest" | "oldest",
): LimitedMessages {
  const ordered = keep === "newest" ? [...messages].reverse() : messages;
  const shortMessages: string[] = [];
  let remainingBytes = maxBytes - 2;
  for (const message of ordered) {
    const json = JSON.stringify(message);
    remainingBytes -= Buffer.byteLength(json) + 1;
    if (remainingBytes < 0) {
      const cut = cutMessage(message, remainingBytes + Buffer.byteLength(json));
      if (cut !== undefined) shortMessages.push(cut);
      break;
    }
    shortMessages.push(json);
  }
  if (keep === "newest") shortMessages.reverse();
  return { json: `[${shortMessages.join(",")}]`, isTruncated: remainingBytes < 0 };
}

/** Returns the message with the beginning of its parts; undefined if nothing fits. */
function cutMessage({ parts, ...message }: ContentMessage, maxBytes: number): string | undefined {
  const shortParts: ContentPart[] = [];
  const sizeWith = (part: ContentPart) =>
    Buffer.byteLength(JSON.stringify({ ...message, parts: [...shortParts, part] }));
  for (const part of parts) {
    if (sizeWith(part) <= maxBytes) {
      shortParts.push(part);
      continue;
    }
    const cut = cutPart(part, (candidate) => sizeWith(candidate) <= maxBytes);
    if (cut !== undefined) shortParts.push(cut);
    break;
  }
  return shortParts.length === 0 ? undefined : JSON.stringify({ ...message, parts: shortParts });
}

function cutPart(part: ContentPart, fits: (part: ContentPart) => boolean): ContentPart | undefined {
  const field = (["content", "arguments", "response"] as const).find((name) => name in part);
  const text = field && (part as Partial<Record<typeof field, string>>)[field];
  if (field === undefined || typeof text !== "string") return undefined;
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits({ ...part, [field]: text.slice(0, middle) } as ContentPart)) least = middle;
    else most = middle - 1;
  }
  return least === 0 ? undefined : ({ ...part, [field]: text.slice(0, least).toWellFormed() } as ContentPart);
}
