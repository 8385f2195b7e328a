/** Messages and images of Ollama's chats. */

import { z } from "zod";
import type { ChatMessage, ContentPart, ToolCall } from "../../contracts/chat-message.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { OpenCalls } from "../open-calls.ts";

export const Images = listOf(z.string().min(1)).max(100);

// Items of `listOf` have no transforms, so null stays.
const Call = lazy.looseObject(() => ({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().min(1), arguments: z.record(z.string(), z.unknown()).nullish() }),
}));

const Message = lazy.looseObject(() => ({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string().nullish(),
  images: Images.nullish(),
  tool_calls: listOf(Call).nullish(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
}));

export const Messages = listOf(Message);

type Message = z.output<typeof Message>;

/** Converts messages. Ollama's tool messages name the tool rather than a call. Throws a Fault. */
export function toChatMessages(messages: readonly Message[]): ChatMessage[] {
  let calls = 0;
  const open = new OpenCalls<ToolCall>();
  return messages.map((message, index) => {
    const { role, tool_name, tool_call_id } = message;
    const { content, images: sentImages, tool_calls: sentCalls } = message;
    // Clients in Go send null for a list without entries.
    const [text, images, tool_calls] = [content ?? "", sentImages ?? [], sentCalls ?? []];
    const path = `messages[${index}]`;
    if (role === "tool") {
      const call = open.take({ id: tool_call_id, name: tool_name }) ?? open.take({});
      if (call === undefined) {
        throw invalidRequest(`Invalid value for '${path}': no assistant message before it calls a tool.`, "messages");
      }
      return { role, content: text, toolCallId: call.id };
    }
    if (role !== "assistant" || tool_calls.length === 0) return { role, content: toContent(text, images, path) };
    const toolCalls = tool_calls.map(({ id, function: { name, arguments: input } }) => ({
      // Nine letters or digits, which the strictest chat templates require.
      id: id ?? `call${String(calls++).padStart(5, "0")}`,
      name,
      arguments: JSON.stringify(input ?? {}),
    }));
    for (const call of toolCalls) open.add(call);
    return { role, content: text, toolCalls };
  });
}

/** Returns a text, or parts if there are images. */
export function toContent(text: string, images: readonly string[], path: string): ChatMessage["content"] {
  if (images.length === 0) return text;
  const parts = images.map((image, index): ContentPart => {
    const param = `${path === "" ? "" : `${path}.`}images[${index}]`;
    return { type: "image", url: `data:${imageType(image)};base64,${image}`, param: { type: param, url: param } };
  });
  return [{ type: "text", text }, ...parts];
}

/** Base64 of the bytes with which files of these types begin. */
const IMAGE_TYPES: readonly (readonly [start: string, type: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

function imageType(base64: string): string {
  return IMAGE_TYPES.find(([start]) => base64.startsWith(start))?.[1] ?? "image/jpeg";
}
