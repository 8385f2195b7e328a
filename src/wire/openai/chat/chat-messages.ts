/** Messages of a chat request: validation for every model, and conversion to the engines' type. */

import { z } from "zod";
import type { ChatMessage, ContentPart, ToolCall } from "../../../contracts/chat-message.ts";
import { toContent } from "../../../contracts/message-text.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { cacheMarkOf } from "../../cache-control.ts";
import { describedBy } from "../../openapi/described-by.ts";
import { withTextFiles } from "../../text-files.ts";
import { openVariants } from "../open-variants.ts";
import { readReasoning, signatureOf } from "./reasoning-details.ts";

const TextPart = z.looseObject({ text: z.string() });
const ImagePart = lazy.looseObject(() => ({
  image_url: z.looseObject({ url: z.string().min(1), detail: z.string().nullish() }),
}));
const FilePart = lazy.looseObject(() => ({
  // Read where the content of files is fetched.
  file: describedBy(
    z.looseObject({}),
    z.looseObject({
      file_id: z.string().optional(),
      file_data: z.string().optional().describe("Data URL, or Base64."),
      filename: z.string().optional(),
    }),
  ),
}));
const Content = z.union([
  z.string(),
  listOf(openVariants({ text: TextPart, image_url: ImagePart, file: FilePart })).min(1),
]);

const FunctionCall = lazy.looseObject(() => ({
  id: z.string().min(1),
  function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
}));
const Call = openVariants({ function: FunctionCall }).extend({ id: z.string() });
type FunctionCall = z.output<typeof FunctionCall>;

/** Schema of an assistant message; content is optional only with tool calls or a refusal. */
const AssistantMessage = lazy
  .looseObject(() => ({
    role: z.literal("assistant"),
    content: Content.nullish(),
    tool_calls: listOf(Call).nullish(),
    refusal: z.string().nullish(),
  }))
  .check((context) => {
    const { content, tool_calls, function_call, refusal, audio } = context.value;
    if (content === undefined || content === null) {
      if (tool_calls || function_call || refusal || audio) return;
      context.issues.push({
        code: "custom",
        path: ["content"],
        input: content,
        message: "an assistant message needs text unless it has tool_calls or a refusal",
        params: { code: content === null ? "invalid_type" : "missing_required_parameter" },
      });
    }
  });

const Message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("developer"), content: Content }),
    z.looseObject({ role: z.literal("system"), content: Content }),
    z.looseObject({ role: z.literal("user"), content: Content }),
    AssistantMessage,
    lazy.looseObject(() => ({ role: z.literal("tool"), content: Content, tool_call_id: z.string() })),
    lazy.looseObject(() => ({ role: z.literal("function"), content: z.string().nullable(), name: z.string() })),
  ],
  { error: "it must be developer, system, user, assistant, tool or function" },
);

export type Message = z.output<typeof Message>;

export const Messages = listOf(Message)
  .min(1)
  .check(({ value, issues }) => {
    const called = new Set<string>();
    for (const [index, message] of value.entries()) {
      if (message.role === "assistant") for (const { id } of message.tool_calls ?? []) called.add(id);
      if (message.role !== "tool" || called.has(message.tool_call_id)) continue;
      issues.push({
        code: "custom",
        path: [index, "tool_call_id"],
        input: message.tool_call_id,
        message: "no assistant message before it has a tool call with this ID",
      });
      return;
    }
  });

/** Converts the message at `index`. Only models that get the forwarded body see the fields left out here. */
export function toMessage(message: Message, index: number): ChatMessage {
  const refusal = message.role === "assistant" ? message.refusal : undefined;
  const content = toMessageContent(message.content ?? refusal, `messages[${index}]`);
  const name = typeof message.name === "string" && message.name !== "" ? { name: message.name } : {};
  if (message.role === "function") return { role: "user", ...content };
  if (message.role === "tool") return { role: "tool", ...content, toolCallId: message.tool_call_id, ...name };
  if (message.role !== "assistant") return { role: message.role, ...content, ...name };
  const reasoning = readReasoning(message);
  const common = { role: "assistant" as const, ...content, ...(reasoning.length > 0 && { reasoning }) };
  if (!message.tool_calls?.length) return { ...common, ...name };
  return { ...common, toolCalls: message.tool_calls.filter(isFunctionCall).map(toToolCall), ...name };
}

/** Returns one text, which templates and tokenizers read, or parts if there is an image or a file. */
function toMessageContent(content: Message["content"] | undefined, path: string): ReturnType<typeof toContent> {
  if (typeof content === "string") return { content };
  const parts = (content ?? []).flatMap((part, index): ContentPart[] => {
    if (isImagePart(part)) {
      const { url, detail } = part.image_url;
      const at = `${path}.content[${index}]`;
      const param = { type: `${at}.type`, url: `${at}.image_url.url` };
      return [{ type: "image", url, detail: detail ?? undefined, param, ...cacheMarkOf(part) }];
    }
    if (part.type === "file") return toFile(part, `${path}.content[${index}]`);
    return typeof part.text === "string" ? [{ type: "text", text: part.text, ...cacheMarkOf(part) }] : [];
  });
  return toContent(parts);
}

/** Returns a text file as its text, and no part for a file that is not in the request. */
function toFile(part: Readonly<Record<string, unknown>>, path: string): ContentPart[] {
  const readable = withTextFiles(part);
  if (typeof readable.text === "string") return [{ type: "text", text: readable.text }];
  const { file_data: url, filename: name } = (part.file ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof url !== "string" || !DATA_URL.test(url)) return [];
  return [{ type: "file", url, name: typeof name === "string" ? name : undefined, param: `${path}.type` }];
}

/** Whether models that get no body can be given a part of this kind. */
export function isReadableFile(part: Readonly<Record<string, unknown>>): boolean {
  return part.type === "file" && toFile(part, "").length > 0;
}

const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,/;

function isImagePart(part: { type: string }): part is { type: string } & z.output<typeof ImagePart> {
  return part.type === "image_url";
}

export function isFunctionCall(call: z.output<typeof Call>): call is z.output<typeof Call> & FunctionCall {
  return call.type === "function";
}

function toToolCall({ id, function: called, extra_content: extra }: FunctionCall): ToolCall {
  // Many models write no text for a call without arguments.
  const call = { id, name: called.name, arguments: called.arguments === "" ? "{}" : called.arguments };
  const signature = signatureOf(extra);
  return signature === undefined ? call : { ...call, signature };
}
