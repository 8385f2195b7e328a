import type { GuardResult } from "../../inference/guardrails/guard-tool.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "./mcp-connection.ts";

type Block = NonNullable<CallToolResult["content"]>[number];

/** Returns the result of an MCP tool with its texts after the guardrails. Throws a Fault. `unreadable`: see `GuardResult`. */
export async function guardToolResult(
  result: CallToolResult,
  guardResult: GuardResult,
  unreadable?: string,
): Promise<CallToolResult> {
  const { content = [], structuredContent } = result;
  const structured = structuredContent === undefined ? [] : [JSON.stringify(structuredContent)];
  const texts = [...content.flatMap((block) => textsOf(block)), ...structured];
  const guarded = (await guardResult(texts, unreadable)).values();
  const next = () => guarded.next().value ?? "";
  const blocks = content.map((block) => withTexts(block, next));
  if (structuredContent === undefined) return { ...result, content: blocks };
  const object = parseObject(next());
  if (object !== undefined) return { ...result, content: blocks, structuredContent: object };
  const message = "A guardrail put a text that is not a JSON object in place of the structured content of the result.";
  throw new Fault("answer-unfit", message, { code: "upstream_error" });
}

/** The same for a prompt, whose messages are content like that of results. */
export async function guardPromptResult(result: GetPromptResult, guardResult: GuardResult): Promise<GetPromptResult> {
  const { description, messages } = result;
  const content = messages.map((message) => message.content);
  const texts: Block[] = description === undefined ? [] : [{ type: "text", text: description }];
  const guarded = await guardToolResult({ content: [...texts, ...content] }, guardResult, unreadableIn({ content }));
  const blocks = (guarded.content ?? []).values();
  const first = description === undefined ? undefined : blocks.next().value;
  return {
    ...result,
    ...(first?.type === "text" && { description: first.text }),
    messages: messages.map((message) => ({ ...message, content: blocks.next().value ?? message.content })),
  };
}

/** The same for the contents of a resource. */
export async function guardResourceResult(
  result: ReadResourceResult,
  guardResult: GuardResult,
): Promise<ReadResourceResult> {
  const content = result.contents.map((resource): Block => ({ type: "resource", resource }));
  const guarded = await guardToolResult({ content }, guardResult, unreadableIn({ content }));
  const contents = (guarded.content ?? []).flatMap((block) => (block.type === "resource" ? [block.resource] : []));
  return { ...result, contents };
}

/** The first content of a result that has no text, by its type; undefined: all has. */
export function unreadableIn({ content = [] }: CallToolResult): string | undefined {
  for (const block of content) {
    if (block.type === "image") return "images";
    if (block.type === "audio") return "audio";
    if (block.type === "resource" && !("text" in block.resource)) return "files";
  }
  return undefined;
}

function textsOf(block: Block): string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "resource":
      return "text" in block.resource ? [block.resource.uri, block.resource.text] : [block.resource.uri];
    case "resource_link":
      return [block.name, block.uri, block.description ?? ""];
    default:
      return [];
  }
}

/** `next`: returns the texts of `textsOf` in their order. */
function withTexts(block: Block, next: () => string): Block {
  switch (block.type) {
    case "text":
      return { ...block, text: next() };
    case "resource":
      return { ...block, resource: withResourceTexts(block.resource, next) };
    case "resource_link": {
      const linked = { ...block, name: next(), uri: next() };
      const description = next();
      return block.description === undefined ? linked : { ...linked, description };
    }
    default:
      return block;
  }
}

function withResourceTexts<Resource extends { uri: string } | { uri: string; text: string }>(
  resource: Resource,
  next: () => string,
): Resource {
  const uri = next();
  return "text" in resource ? { ...resource, uri, text: next() } : { ...resource, uri };
}
