/** Items of a Realtime conversation as clients send them, and as messages of a chat. */

import { z } from "zod";
import type { ChatMessage, ContentPart } from "../../contracts/chat-message.ts";
import { newId } from "../../kernel/id.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { appendToolCall } from "../append-tool-call.ts";
import { isMcpItem, MCP_ITEMS, type McpItem, toMcpMessages } from "./mcp-items.ts";

const Text = z.string();
// Fields are nullish rather than `optional`, because `listOf` takes items without transforms.
const InputContent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("input_text"), text: Text }),
  lazy.object(() => ({ type: z.literal("input_audio"), audio: Text.nullish(), transcript: Text.nullish() })),
  lazy.object(() => ({
    type: z.literal("input_image"),
    image_url: z.string().regex(/^(data:image\/|https:)/, { error: "it must be a data URL of an image, or https" }),
    detail: z.enum(["auto", "low", "high"]).nullish(),
  })),
]);
const OutputContent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("output_text"), text: Text }),
  lazy.object(() => ({ type: z.literal("output_audio"), transcript: Text.nullish() })),
]);
const SystemContent = z.object({ type: z.literal("input_text"), text: Text });

const common = { id: z.string().min(1).max(64).nullish() };
const message = { ...common, type: z.literal("message") };

const Message = z.discriminatedUnion("role", [
  lazy.object(() => ({ ...message, role: z.literal("user"), content: listOf(InputContent) })),
  lazy.object(() => ({ ...message, role: z.literal("system"), content: listOf(SystemContent) })),
  lazy.object(() => ({ ...message, role: z.literal("assistant"), content: listOf(OutputContent) })),
]);
const FunctionCall = lazy.object(() => ({
  ...common,
  type: z.literal("function_call"),
  call_id: z.string().min(1).nullish(),
  name: z.string().min(1),
  arguments: z.string(),
}));
const FunctionCallOutput = lazy.object(() => ({
  ...common,
  type: z.literal("function_call_output"),
  call_id: z.string().min(1),
  output: z.string(),
}));

export const ItemField = z.discriminatedUnion("type", [Message, FunctionCall, FunctionCallOutput, ...MCP_ITEMS]);

type SentItem = z.output<typeof ItemField>;
type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Content of an item in a conversation; audio itself is not kept. */
export type ItemContent =
  | { type: "input_text" | "output_text"; text: string }
  | { type: "input_audio" | "output_audio"; transcript: string | null }
  | { type: "input_image"; image_url: string; detail: string };

export interface MessageItem {
  id: string;
  object: "realtime.item";
  type: "message";
  role: "user" | "system" | "assistant";
  status: ItemStatus;
  content: ItemContent[];
}

export interface FunctionCallItem {
  id: string;
  object: "realtime.item";
  type: "function_call";
  status: ItemStatus;
  call_id: string;
  name: string;
  arguments: string;
}

interface FunctionCallOutputItem {
  id: string;
  object: "realtime.item";
  type: "function_call_output";
  status: ItemStatus;
  call_id: string;
  output: string;
}

/** Items that a client sends, or that a model writes piece by piece. */
export type WrittenItem = MessageItem | FunctionCallItem | FunctionCallOutputItem;
export type ConversationItem = WrittenItem | McpItem;

/** Audio of an item that a client sent, to be transcribed. */
export interface SentAudio {
  contentIndex: number;
  /** In the session's input format. */
  bytes: Buffer;
}

/** Completes an item that a client sent, and returns its audio separately. */
export function toItem(sent: SentItem): { item: ConversationItem; audio: SentAudio[] } {
  const id = sent.id ?? newId("item_");
  if (isMcpItem(sent)) return { item: { ...sent, id, object: "realtime.item" }, audio: [] };
  const base = { id, object: "realtime.item", status: "completed" } as const;
  if (sent.type === "function_call_output") {
    return { item: { ...base, type: sent.type, call_id: sent.call_id, output: sent.output }, audio: [] };
  }
  if (sent.type === "function_call") {
    const { type, name, arguments: given, call_id } = sent;
    return { item: { ...base, type, call_id: call_id ?? newId("call_"), name, arguments: given }, audio: [] };
  }
  const audio: SentAudio[] = [];
  const content = sent.content.map((part, contentIndex): ItemContent => {
    switch (part.type) {
      case "input_audio":
        if (typeof part.audio === "string") audio.push({ contentIndex, bytes: Buffer.from(part.audio, "base64") });
        return { type: part.type, transcript: part.transcript ?? null };
      case "output_audio":
        return { type: part.type, transcript: part.transcript ?? null };
      case "input_image":
        return { type: part.type, image_url: part.image_url, detail: part.detail ?? "auto" };
      default:
        return part;
    }
  });
  return { item: { ...base, type: "message", role: sent.role, content }, audio };
}

/** Converts a conversation to the messages of a chat. Items without text, such as silence, are left out. */
export function toChatMessages(instructions: string, items: readonly ConversationItem[]): ChatMessage[] {
  const messages: ChatMessage[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  const requests = new Map<string, Readonly<Record<string, unknown>>>();
  for (const item of items) {
    if (isMcpItem(item)) {
      messages.push(...toMcpMessages(item, requests));
    } else if (item.type === "function_call_output") {
      messages.push({ role: "tool", content: item.output, toolCallId: item.call_id });
    } else if (item.type === "function_call") {
      appendCall(messages, { id: item.call_id, name: item.name, arguments: item.arguments });
    } else {
      const content = toContent(item.content);
      if (content !== "") messages.push({ role: item.role, content });
    }
  }
  return messages;
}

function appendCall(messages: ChatMessage[], call: NonNullable<ChatMessage["toolCalls"]>[number]): void {
  const last = messages.at(-1);
  if (last?.role === "assistant") appendToolCall(last, call);
  else messages.push({ role: "assistant", content: "", toolCalls: [call] });
}

function toContent(content: readonly ItemContent[]): ChatMessage["content"] {
  const parts = content.flatMap((part): ContentPart[] => {
    if (part.type === "input_image") {
      const param = { type: "item.content", url: "item.content" };
      return [{ type: "image", url: part.image_url, detail: part.detail, param }];
    }
    const text = "text" in part ? part.text : (part.transcript ?? "");
    return text.trim() === "" ? [] : [{ type: "text", text }];
  });
  if (parts.some(({ type }) => type === "image")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
