/** `input` and `instructions` of a Responses request: validation, and conversion to the engines' messages. */

import { z } from "zod";
import type { ChatMessage, ContentPart, ReasoningBlock, ToolCall } from "../../contracts/chat-message.ts";
import { messageText, toContent } from "../../contracts/message-text.ts";
import { type Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { appendToolCall } from "../append-tool-call.ts";
import { cacheMarkOf } from "../cache-control.ts";
import { openVariants } from "../openai/open-variants.ts";
import { withTextFiles } from "../text-files.ts";
import { CALLER_ITEMS, toModelCall, toModelResult } from "./caller-tools.ts";
import { toReasoningBlock } from "./reasoning-content.ts";
import { flatName } from "./responses-tools.ts";
import { isServiceItem, SERVICE_ITEMS, toExchange } from "./service-items.ts";

const TextPart = z.looseObject({ text: z.string() });
const PARTS = {
  input_text: TextPart,
  output_text: TextPart,
  text: TextPart,
  refusal: z.looseObject({ refusal: z.string() }),
  input_image: lazy.looseObject(() => ({ image_url: z.string().min(1).nullish(), detail: z.string().nullish() })),
};
const Content = z.union([z.string(), listOf(openVariants(PARTS))]);

const Call = lazy.looseObject(() => ({
  call_id: z.string().min(1),
  name: z.string().min(1),
  namespace: z.string().nullish(),
}));
const CallOutput = lazy.looseObject(() => ({ call_id: z.string().min(1), output: Content }));

const ITEMS = {
  message: z.looseObject({
    role: z.enum(["user", "assistant", "system", "developer"], {
      error: "it must be user, assistant, system or developer",
    }),
    content: Content,
  }),
  function_call: Call.extend({ arguments: z.string() }),
  custom_tool_call: Call.extend({ input: z.string() }),
  function_call_output: CallOutput,
  custom_tool_call_output: CallOutput,
  reasoning: z.looseObject({}),
  ...CALLER_ITEMS,
  ...SERVICE_ITEMS,
  item_reference: lazy.looseObject(() => ({ id: z.string().min(1) })),
} satisfies Record<string, z.ZodType>;

type ItemType = keyof typeof ITEMS;

export const Item = lazy
  .looseObject(() => ({ type: z.string().nullish() }))
  .check(({ value, issues }) => {
    const type = typeOf(value);
    if (!Object.hasOwn(ITEMS, type)) return;
    const { error } = ITEMS[type as ItemType].safeParse(value, { reportInput: true });
    issues.push(...((error?.issues ?? []) as typeof issues));
  });

export const Input = z.union([z.string(), listOf(Item).min(1)]);

export type InputItem = z.output<typeof Item>;
export type SentInput = string | readonly InputItem[];

type SentContent = z.output<typeof Content>;

/** Returns the type of an item; messages and references may leave it out. */
export function typeOf(item: { type?: string | null | undefined; id?: unknown; role?: unknown }): string {
  return item.type ?? (item.id !== undefined && item.role === undefined ? "item_reference" : "message");
}

export function isReference(item: InputItem): boolean {
  return typeOf(item) === "item_reference";
}

/** Input without references, after the items that it continues from. */
export interface Prompt {
  context: readonly InputItem[];
  input: SentInput;
}

/** Converts the items. Throws a Fault for those that no model supports. */
export function toChatMessages(instructions: string | undefined, { context, input }: Prompt): ChatMessage[] {
  const messages: ChatMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const called: Called = { ids: new Set(), approvalRequests: new Map() };
  const read: ReadItems = { messages, called, reasoning: [] };
  const sent = typeof input === "string" ? [{ role: "user", content: input }] : input;
  for (const [index, item] of context.entries()) addItem(read, item, `context[${index}]`);
  for (const [index, item] of sent.entries()) addItem(read, item, `input[${index}]`);
  return messages;
}

/** Begins a message with a summary, also where it has become a stored item. */
export const SUMMARY_INTRODUCTION = "Summary of the conversation before this point:";

function isSummary(message: ChatMessage): boolean {
  return message.role === "developer" && messageText(message).startsWith(SUMMARY_INTRODUCTION);
}

/** Calls before an item. */
interface Called {
  ids: Set<string>;
  /** Requests of approvals by ID. */
  approvalRequests: Map<string, InputItem>;
}

/** Messages so far, the calls in them, and the reasoning that belongs to the next item. */
interface ReadItems {
  messages: ChatMessage[];
  called: Called;
  reasoning: ReasoningBlock[];
}

function addItem(read: ReadItems, item: InputItem, path: string): void {
  const { messages, called } = read;
  const type = typeOf(item);
  if (type === "reasoning") {
    const block = toReasoningBlock(item);
    if (block !== undefined) read.reasoning.push(block);
  } else if (isOf("message", item)) {
    const { role } = item;
    const reasoning = role === "assistant" ? takeReasoning(read) : {};
    const message: ChatMessage = { role, ...toMessageContent(item.content, `${path}.content`), ...reasoning };
    messages.push(isSummary(message) ? { ...message, isSummary: true } : message);
  } else if (isOf("function_call", item)) addCall(read, toFunctionCall(item, path));
  else if (isOf("custom_tool_call", item)) {
    const { call_id: id, input: text } = item;
    addCall(read, { id, name: flatName(item), arguments: JSON.stringify({ input: text }) });
  } else if (isOf("function_call_output", item) || isOf("custom_tool_call_output", item)) {
    messages.push(...toResult(item, path, called));
  } else if (isServiceItem(type)) addServiceItem(read, item, path);
  else addCallerItem(read, item, path);
}

function takeReasoning(read: ReadItems): Pick<ChatMessage, "reasoning"> {
  const { reasoning } = read;
  read.reasoning = [];
  return reasoning.length === 0 ? {} : { reasoning };
}

/** Adds a call of a tool that this service ran, and its result. Throws a Fault for an answer to no question. */
function addServiceItem(read: ReadItems, item: InputItem, path: string): void {
  const { type, approval_request_id: id } = item;
  // Stored items have other IDs than those that a caller sent.
  const isNew = path.startsWith("input");
  if (type === "mcp_approval_response" && isNew && !read.called.approvalRequests.has(String(id))) {
    const message = `There is no approval request '${String(id).slice(0, 100)}' before it: send 'previous_response_id', or the item itself in 'input'.`;
    throw unsupportedValue(message, `${path}.approval_request_id`);
  }
  const exchange = toExchange(typeOf(item), item, read.called.approvalRequests);
  if (exchange === undefined) return;
  const { call, result } = exchange;
  addCall(read, call);
  read.messages.push({ role: "tool", toolCallId: call.id, content: result });
}

/** Adds a call of a tool that the caller runs, or its result. Throws a Fault for other items. */
function addCallerItem(read: ReadItems, item: InputItem, path: string): void {
  const { messages, called } = read;
  const type = typeOf(item);
  const call = toModelCall(type, item);
  if (call !== undefined) {
    addCall(read, call);
    return;
  }
  const result = toModelResult(type, item);
  if (result === undefined) throw unreadable(type, path);
  const { callId, text, image } = result;
  checkCalled(callId, called, path);
  messages.push({ role: "tool", toolCallId: callId, content: text });
  if (image === undefined) return;
  const output = toImage({ image_url: image }, `${path}.output`);
  messages.push({ role: "user", content: [output] });
}

function isOf<Type extends ItemType>(type: Type, item: z.output<typeof Item>): item is z.output<(typeof ITEMS)[Type]> {
  return typeOf(item) === type;
}

function unreadable(type: string, path: string) {
  if (type === "item_reference") {
    const message = "Responses are not stored here, so no item can be referred to. Send the item itself in 'input'.";
    return unsupportedValue(message, `${path}.type`);
  }
  return unsupportedValue(`Models here do not read items of the type '${type}'.`, `${path}.type`);
}

/** Adds a call to the preceding assistant text, because chat templates expect both in one message. */
function addCall(read: ReadItems, call: ToolCall): void {
  const { messages, called } = read;
  called.ids.add(call.id);
  const last = messages.at(-1);
  const reasoning = takeReasoning(read);
  const isNext = last?.role === "assistant" && reasoning.reasoning === undefined;
  if (!isNext) messages.push({ role: "assistant", content: "", toolCalls: [call], ...reasoning });
  else appendToolCall(last, call);
}

function toFunctionCall(item: z.output<(typeof ITEMS)["function_call"]>, path: string): ToolCall {
  const text = item.arguments === "" ? "{}" : item.arguments;
  if (!isObjectText(text)) {
    const message = "Models read a call's arguments as a JSON object, and this text is not one.";
    throw invalidRequest(message, `${path}.arguments`, "invalid_value");
  }
  return { id: item.call_id, name: flatName(item), arguments: text };
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Converts a tool result; its images follow in a user message, because results are text. */
function toResult({ call_id: id, output }: z.output<typeof CallOutput>, path: string, called: Called): ChatMessage[] {
  checkCalled(id, called, path);
  const { content, ...marks } = toMessageContent(output, `${path}.output`);
  if (typeof content === "string") return [{ role: "tool", toolCallId: id, content, ...marks }];
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const others = content.filter((part) => part.type !== "text");
  return [
    { role: "tool", toolCallId: id, content: text },
    { role: "user", content: others },
  ];
}

function checkCalled(id: string, called: Called, path: string): void {
  if (called.ids.has(id)) return;
  const message = `No tool call before it has the call_id '${id.slice(0, 100)}'.`;
  throw invalidRequest(message, `${path}.call_id`, "invalid_value");
}

/** Returns one text, which templates and tokenizers read, or parts if there is an image or a file. */
function toMessageContent(content: SentContent, path: string): ReturnType<typeof toContent> {
  if (typeof content === "string") return { content };
  const hasFiles = content.some(({ type }) => type === "input_file");
  const readable = hasFiles ? withTextFiles(content) : content;
  const parts = readable.map((part, index): ContentPart => {
    const at = `${path}[${index}]`;
    switch (part.type) {
      case "input_text":
      case "output_text":
      case "text":
        return { type: "text", text: String(part.text), ...cacheMarkOf(part) };
      case "refusal":
        return { type: "text", text: String(part.refusal) };
      case "input_image":
        return toImage(part as unknown as z.output<typeof PARTS.input_image>, at);
      case "input_file":
        return toFile(part, at);
      default:
        throw unreadablePart(part.type, `${at}.type`);
    }
  });
  return toContent(parts);
}

function toFile(part: Readonly<Record<string, unknown>>, path: string): ContentPart {
  const { file_data: data, file_url: address, filename } = part;
  const url = typeof data === "string" && data.startsWith("data:") ? data : address;
  if (typeof url !== "string") throw unreadablePart("input_file", `${path}.type`);
  return { type: "file", url, name: typeof filename === "string" ? filename : undefined, param: `${path}.type` };
}

function unreadablePart(type: string, param: string): Fault {
  const wayOut =
    type === "input_file"
      ? " Text files are read, as a data URL in 'file_data' with their type, such as text/plain."
      : "";
  return unsupportedValue(`Models here do not read parts of the type '${type}'.${wayOut}`, param);
}

function toImage({ image_url: url, detail }: z.output<typeof PARTS.input_image>, path: string): ContentPart {
  if (typeof url !== "string") {
    throw unsupportedValue("Files are not kept here: send the image as 'image_url'.", `${path}.image_url`);
  }
  return { type: "image", url, detail: detail ?? undefined, param: { type: `${path}.type`, url: `${path}.image_url` } };
}
