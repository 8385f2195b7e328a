/** Writes a typed chat request as the body of Anthropic's POST /v1/messages. */

import type { CacheMark, ChatMessage, ContentPart, ReasoningBlock, ToolCall } from "../../contracts/chat-message.ts";
import type { ChatRequest, Tool } from "../../contracts/chat-model.ts";
import { contentParts } from "../../contracts/message-text.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { toTurns } from "../native-upstream/alternating-turns.ts";
import { toClaudeThinking } from "../native-upstream/claude-thinking.ts";
import { inlineData, parseArguments } from "../native-upstream/content-urls.ts";
import { ownSignature } from "../native-upstream/signatures.ts";
import type { AnthropicSettings } from "./settings.ts";

type Block = Record<string, unknown>;
type MessageSettings = Pick<AnthropicSettings, "maxOutputTokens" | "thinking" | "cache">;

/** Throws a Fault that names what the API does not have. */
export function toMessagesBody(request: ChatRequest, model: string, settings: MessageSettings): Block {
  const { tools, stop, topP, temperature, topK } = request;
  const system = request.messages.filter(isInstruction).flatMap((message) => toBlocks(message));
  const body: Block = {
    model,
    max_tokens: request.maxTokens ?? settings.maxOutputTokens,
    stream: true,
    ...(system.length > 0 && { system }),
    messages: toTurns(
      request.messages.filter((message) => !isInstruction(message)),
      { assistant: fromAssistant, user: fromUser },
    ),
    ...(temperature !== 1 && { temperature }),
    ...(topP !== 1 && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(tools.length > 0 && { tools: tools.map(toTool), tool_choice: toToolChoice(request) }),
    ...(request.cache !== undefined && mark(request.cache)),
    ...toOutputConfig(request, model, settings),
  };
  return withCacheMarks(body, settings.cache);
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function fromUser(message: ChatMessage): Block[] {
  if (message.role !== "tool") return toBlocks(message);
  const content = toBlocks(message);
  const cached = content.at(-1)?.cache_control;
  for (const block of content) delete block.cache_control;
  return [
    {
      type: "tool_result",
      tool_use_id: toCallId(message.toolCallId ?? ""),
      content,
      ...(cached !== undefined && { cache_control: cached }),
    },
  ];
}

function fromAssistant(message: ChatMessage): Block[] {
  const reasoning = (message.reasoning ?? []).flatMap(toThinkingBlock);
  return [...reasoning, ...toBlocks(message), ...(message.toolCalls ?? []).map(toToolUse)];
}

/** Returns no block for reasoning of another provider, which the API would refuse. */
function toThinkingBlock({ text, signature, encrypted }: ReasoningBlock): Block[] {
  if (encrypted !== undefined) return [{ type: "redacted_thinking", data: encrypted }];
  const nativeSignature = ownSignature(signature, undefined);
  return nativeSignature === undefined ? [] : [{ type: "thinking", thinking: text, signature: nativeSignature }];
}

function toToolUse({ id, name, arguments: written }: ToolCall): Block {
  return { type: "tool_use", id: toCallId(id), name, input: parseArguments(written) };
}

/** The API takes letters, digits, _ and - only; other providers' IDs have more. */
function toCallId(id: string): string {
  return id.replace(/[^\w-]/g, "_");
}

function toBlocks(message: ChatMessage): Block[] {
  return contentParts(message).flatMap((part) => {
    const block = toBlock(part);
    return block === undefined ? [] : [{ ...block, ...(part.cache !== undefined && mark(part.cache)) }];
  });
}

/** Returns undefined for a text without characters, which the API refuses. */
function toBlock(part: ContentPart): Block | undefined {
  if (part.type === "text") return part.text === "" ? undefined : { type: "text", text: part.text };
  if (part.type === "image") return { type: "image", source: toSource(part.url) };
  const source = toSource(part.url);
  if (source.type === "base64" && source.media_type !== "application/pdf") {
    throw unsupportedValue(
      `Anthropic's API reads PDF and text, not files of the type ${source.media_type}.`,
      part.param,
    );
  }
  return { type: "document", source, ...(part.name !== undefined && { title: part.name }) };
}

function toSource(url: string): { type: string; media_type?: string; data?: string; url?: string } {
  const inline = inlineData(url);
  if (inline === undefined) return { type: "url", url };
  return { type: "base64", media_type: inline.mediaType, data: inline.data };
}

function toTool({ name, description, parameters, cache }: Tool): Block {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters ?? { type: "object", properties: {} },
    ...(cache !== undefined && mark(cache)),
  };
}

function toToolChoice({ toolChoice, parallelToolCalls }: ChatRequest): Block {
  if (toolChoice === "none") return { type: "none" };
  const single = parallelToolCalls ? {} : { disable_parallel_tool_use: true };
  if (typeof toolChoice === "object") return { type: "tool", name: toolChoice.name, ...single };
  return { type: toolChoice === "required" ? "any" : "auto", ...single };
}

function mark({ ttl }: CacheMark): Block {
  return { cache_control: { type: "ephemeral", ...(ttl !== undefined && { ttl }) } };
}

/** Converts the effort, or the thinking that a Messages request asks for, and the format of the answer. */
function toOutputConfig(request: ChatRequest, model: string, settings: MessageSettings): Block {
  const { format } = request;
  if (format.type === "json") {
    throw unsupportedValue(
      "Anthropic's API has no JSON mode: send a JSON schema as 'response_format', or ask for JSON in the prompt.",
      "response_format",
    );
  }
  const maxTokens = request.maxTokens ?? settings.maxOutputTokens;
  const { thinking, effort } = toClaudeThinking(request, {
    provider: "Anthropic",
    model,
    maxTokens,
    mode: settings.thinking,
  });
  const output = {
    ...(format.type === "json-schema" && { format: { type: "json_schema", schema: format.schema } }),
    ...(effort !== undefined && { effort }),
  };
  return {
    ...(thinking !== undefined && { thinking }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
  };
}

/** Sets the marks of the configuration in a body that has none. Also reads bodies of callers. */
export function withCacheMarks(body: Readonly<Block>, cache: MessageSettings["cache"]): Block {
  const { instructions, conversation } = cache;
  if ((instructions === undefined && conversation === undefined) || hasMarks(body)) return body;
  const marked: Block = { ...body };
  if (instructions !== undefined) Object.assign(marked, markInstructions(body, mark({ ttl: instructions })));
  if (conversation !== undefined) Object.assign(marked, mark({ ttl: conversation }));
  return marked;
}

/** Marks the last block of the system prompt, which comes after the tools, or the last tool. */
function markInstructions({ system, tools }: Readonly<Block>, marked: Block): Block {
  const blocks = typeof system === "string" && system !== "" ? [{ type: "text", text: system }] : system;
  if (Array.isArray(blocks) && blocks.length > 0) return { system: markLast(blocks, marked) };
  return Array.isArray(tools) && tools.length > 0 ? { tools: markLast(tools, marked) } : {};
}

function markLast(entries: readonly Block[], marked: Block): Block[] {
  return entries.map((entry, index) => (index === entries.length - 1 ? { ...entry, ...marked } : entry));
}

/** Whether the caller has placed marks by itself. */
function hasMarks({ cache_control: own, system, tools, messages }: Readonly<Block>): boolean {
  if (own !== undefined && own !== null) return true;
  const contents = (Array.isArray(messages) ? messages : []).map((message: Block | null) => message?.content);
  return [system, tools, ...contents].some(
    (blocks) => Array.isArray(blocks) && blocks.some((block: Block | null) => (block?.cache_control ?? null) !== null),
  );
}
