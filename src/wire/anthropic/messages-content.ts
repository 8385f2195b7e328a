/** Messages and the system prompt of a Messages request: validation, and conversion to the engines' type. */

import { z } from "zod";
import type { ChatMessage, ContentPart, ReasoningBlock, ToolCall } from "../../contracts/chat-message.ts";
import { toContent } from "../../contracts/message-text.ts";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { cacheMarkOf } from "../cache-control.ts";
import { openVariants } from "../openai/open-variants.ts";
import { serviceFunctionName } from "../responses/responses-tools.ts";
import { textOfToolSearch } from "../responses/tool-search.ts";
import { withoutBillingHeader } from "./billing-header.ts";
import { McpToolResult, McpToolUse, textOfMcpResult } from "./messages-mcp.ts";
import { isServerResult, ServerToolUse, textOfServerResult } from "./messages-server-tools.ts";

const TextBlock = z.looseObject({ text: z.string() });
const ImageSource = openVariants({
  base64: lazy.looseObject(() => ({ media_type: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/), data: z.string().min(1) })),
  url: lazy.looseObject(() => ({ url: z.string().min(1) })),
});
const ImageBlock = z.looseObject({ source: ImageSource });
const InnerBlocks = listOf(openVariants({ text: TextBlock, image: ImageBlock }));
const DocumentBlock = lazy.looseObject(() => ({
  title: z.string().nullish(),
  context: z.string().nullish(),
  source: openVariants({
    text: z.looseObject({ data: z.string() }),
    content: z.looseObject({ content: z.union([z.string(), InnerBlocks]) }),
    base64: z.looseObject({ media_type: z.string(), data: z.string().min(1) }),
    url: z.looseObject({ url: z.string().min(1) }),
  }),
}));
const SearchResultBlock = lazy.looseObject(() => ({ source: z.string(), title: z.string(), content: InnerBlocks }));

const PARTS = { text: TextBlock, image: ImageBlock, document: DocumentBlock, search_result: SearchResultBlock };

const ToolUse = lazy.looseObject(() => ({
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
}));
const ToolReference = z.looseObject({ tool_name: z.string().min(1) });
const ToolResult = lazy.looseObject(() => ({
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), listOf(openVariants({ ...PARTS, tool_reference: ToolReference }))]).nullish(),
  is_error: z.boolean().nullish(),
}));

const Content = z.union([
  z.string(),
  listOf(
    openVariants({
      ...PARTS,
      tool_use: ToolUse,
      tool_result: ToolResult,
      server_tool_use: ServerToolUse,
      mcp_tool_use: McpToolUse,
      mcp_tool_result: McpToolResult,
    }),
  ),
]);

export const Messages = listOf(
  z.looseObject({
    role: z.enum(["user", "assistant", "system"], { error: "it must be user or assistant" }),
    content: Content,
  }),
).min(1);

export const SystemPrompt = z.union([z.string(), listOf(openVariants({ text: TextBlock }))]);

type Block = { type: string } & Record<string, unknown>;
type SentContent = z.output<typeof Content>;

/** Converts the messages. Throws a Fault for blocks that no model supports. */
export function toChatMessages(
  system: z.output<typeof SystemPrompt> | undefined,
  messages: z.output<typeof Messages>,
): ChatMessage[] {
  const called = new Set<string>();
  const parts = toPartsOf(system === undefined ? [] : withoutBillingHeader(system), "system");
  const prompt = parts.length === 0 ? { content: "" } : toContent(parts, "\n");
  const converted = messages.flatMap(({ role, content }, index): ChatMessage[] => {
    const path = `messages[${index}].content`;
    if (role === "system") return [{ role, ...textOf(content, path) }];
    return role === "user" ? fromUser(content, path, called) : fromAssistant(content, path, called);
  });
  return prompt.content === "" ? converted : [{ role: "system", ...prompt }, ...converted];
}

/**
 * Converts a user message: tool results come first, as messages that answer the calls; their images follow with the
 * user's text.
 */
function fromUser(content: SentContent, path: string, called: ReadonlySet<string>): ChatMessage[] {
  if (typeof content === "string") return [{ role: "user", content }];
  const results: ChatMessage[] = [];
  const parts: ContentPart[] = [];
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`;
    if (block.type !== "tool_result") {
      parts.push(...toParts(block, at));
      continue;
    }
    const { tool_use_id: id, content: result } = block as unknown as z.output<typeof ToolResult>;
    if (!called.has(id)) {
      const message = `Invalid value for '${at}.tool_use_id': no tool_use block before it has this ID.`;
      throw invalidRequest(message, `${at}.tool_use_id`, "invalid_value");
    }
    const inner = toPartsOf(result ?? "", `${at}.content`);
    const { cache } = cacheMarkOf(block);
    const text = joinTexts(cache === undefined ? inner : [...inner, { type: "text", text: "", cache }]);
    results.push({ role: "tool", toolCallId: id, ...text });
    parts.push(...inner.filter((part) => part.type !== "text"));
  }
  return parts.length === 0 ? results : [...results, { role: "user", ...toContent(parts, "\n") }];
}

/** Converts an assistant message, whose calls of MCP tools and their results end a turn of the model. */
function fromAssistant(content: SentContent, path: string, called: Set<string>): ChatMessage[] {
  if (typeof content === "string") return [{ role: "assistant", content }];
  const turns = [new AssistantTurn()];
  for (const [index, block] of content.entries()) {
    let turn = turns.at(-1) as AssistantTurn;
    if (turn.hasResults && block.type !== "mcp_tool_result" && !isServerResult(block)) {
      turn = new AssistantTurn();
      turns.push(turn);
    }
    turn.add(block, `${path}[${index}]`, called);
  }
  return turns.flatMap((turn) => turn.toMessages());
}

/** One turn of a model, with the thinking that its provider can recognize. */
class AssistantTurn {
  readonly #parts: ContentPart[] = [];
  readonly #calls: ToolCall[] = [];
  readonly #reasoning: ReasoningBlock[] = [];
  /** Texts of the results of tools of a service by their calls; undefined: none has come. */
  readonly #results = new Map<string, string | undefined>();

  get hasResults(): boolean {
    return [...this.#results.values()].some((text) => text !== undefined);
  }

  add(block: Block, path: string, called: Set<string>): void {
    switch (block.type) {
      case "thinking":
      case "redacted_thinking":
        this.#reasoning.push(...toReasoning(block));
        break;
      case "tool_use": {
        const { id, name, input } = block as unknown as z.output<typeof ToolUse>;
        called.add(id);
        this.#calls.push({ id, name, arguments: JSON.stringify(input) });
        break;
      }
      case "mcp_tool_use": {
        const { id, name, server_name: server, input } = block as unknown as z.output<typeof McpToolUse>;
        this.#results.set(id, undefined);
        this.#calls.push({ id, name: serviceFunctionName(name, server), arguments: JSON.stringify(input) });
        break;
      }
      case "mcp_tool_result": {
        const result = block as unknown as z.output<typeof McpToolResult>;
        const { tool_use_id: id } = result;
        if (!this.#results.has(id)) {
          const message = `Invalid value for '${path}.tool_use_id': no mcp_tool_use block before it has this ID.`;
          throw invalidRequest(message, `${path}.tool_use_id`, "invalid_value");
        }
        this.#results.set(id, textOfMcpResult(result));
        break;
      }
      case "server_tool_use": {
        const { id, name, input } = block as unknown as z.output<typeof ServerToolUse>;
        this.#results.set(id, undefined);
        const tool = name === "code_execution" ? "code_interpreter" : name;
        this.#calls.push({ id, name: serviceFunctionName(tool), arguments: JSON.stringify(input) });
        break;
      }
      default:
        if (!isServerResult(block)) this.#parts.push(...toParts(block, path));
        else if (this.#results.has(String(block.tool_use_id))) {
          this.#results.set(String(block.tool_use_id), textOfServerResult(block));
        }
    }
  }

  toMessages(): ChatMessage[] {
    const message: ChatMessage = {
      role: "assistant",
      ...toContent(this.#parts, "\n"),
      ...(this.#reasoning.length > 0 && { reasoning: this.#reasoning }),
      ...(this.#calls.length > 0 && { toolCalls: this.#calls }),
    };
    const results = [...this.#results].map(([toolCallId, text = "The call did not run."]): ChatMessage => {
      return { role: "tool", toolCallId, content: text };
    });
    return [message, ...results];
  }
}

function toReasoning({ thinking, signature, data }: Block): ReasoningBlock[] {
  if (typeof data === "string" && data !== "") return [{ text: "", encrypted: data }];
  const isSigned = typeof signature === "string" && signature !== "";
  return isSigned ? [{ text: typeof thinking === "string" ? thinking : "", signature }] : [];
}

function toPartsOf(content: string | readonly Block[], path: string): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((block, index) => toParts(block, `${path}[${index}]`));
}

function toParts(block: Block, path: string): ContentPart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text as string, ...cacheMarkOf(block) }];
    case "image":
      return [{ ...toImage(block as unknown as z.output<typeof ImageBlock>, path), ...cacheMarkOf(block) }];
    case "document":
      return toDocument(block as unknown as Block & z.output<typeof DocumentBlock>, path);
    case "tool_reference":
      return [{ type: "text", text: textOfToolSearch([{ name: String(block.tool_name) }]) }];
    case "search_result": {
      const { title, source, content } = block as unknown as z.output<typeof SearchResultBlock>;
      return [{ type: "text", text: `${title} (${source})` }, ...toPartsOf(content, `${path}.content`)];
    }
    default:
      throw unsupported(`blocks of the type '${block.type}' here`, `${path}.type`);
  }
}

function toDocument(block: Block & z.output<typeof DocumentBlock>, path: string): ContentPart[] {
  const { title, context, source } = block;
  const head = [title, context].filter((each) => typeof each === "string").map((text) => ({ type: "text", text }));
  switch (source.type) {
    case "base64":
    case "url": {
      const url = source.type === "url" ? String(source.url) : dataUrl(source);
      const name = typeof title === "string" ? title : undefined;
      const file = { type: "file", url, name, param: `${path}.source.type`, ...cacheMarkOf(block) } as const;
      return [...toPartsOf(head.slice(title ? 1 : 0), path), file];
    }
    case "text":
      return toPartsOf([...head, { type: "text", text: source.data }], path);
    case "content":
      return [...toPartsOf(head, path), ...toPartsOf(source.content as string | Block[], `${path}.source.content`)];
    default:
      throw unsupported(`documents from the source '${source.type}'`, `${path}.source.type`);
  }
}

function toImage({ source }: z.output<typeof ImageBlock>, path: string): ContentPart {
  const { type, url } = source;
  if (type === "base64") {
    const param = { type: `${path}.type`, url: `${path}.source.data` };
    return { type: "image", url: dataUrl(source), param };
  }
  if (type !== "url") throw unsupported(`images from the source '${type}'`, `${path}.source.type`);
  return { type: "image", url: String(url), param: { type: `${path}.type`, url: `${path}.source.url` } };
}

function dataUrl({ media_type: mediaType, data }: Readonly<Record<string, unknown>>): string {
  return `data:${String(mediaType)};base64,${String(data)}`;
}

function unsupported(what: string, param: string) {
  return unsupportedValue(`Invalid value for '${param}': models here do not take ${what}.`, param);
}

function textOf(content: string | readonly Block[], path: string): ReturnType<typeof toContent> {
  return joinTexts(toPartsOf(content, path));
}

/** Joins blocks as separate paragraphs, such as a document and the question about it. */
function joinTexts(parts: readonly ContentPart[]): ReturnType<typeof toContent> {
  return toContent(
    parts.filter(({ type }) => type === "text"),
    "\n",
  );
}
