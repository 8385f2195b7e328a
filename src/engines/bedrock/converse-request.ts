/** Writes a typed chat request as the body of Bedrock's ConverseStream. */

import type { CacheMark, ChatMessage, ContentPart, ReasoningBlock } from "../../contracts/chat-message.ts";
import type { ChatRequest } from "../../contracts/chat-model.ts";
import { contentParts } from "../../contracts/message-text.ts";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { type Turn, toTurns } from "../native-upstream/alternating-turns.ts";
import { toClaudeThinking } from "../native-upstream/claude-thinking.ts";
import { inlineData, parseArguments } from "../native-upstream/content-urls.ts";
import { ownSignature } from "../native-upstream/signatures.ts";
import type { BedrockSettings } from "./settings.ts";

type Block = Record<string, unknown>;
type ConverseSettings = Pick<BedrockSettings, "maxOutputTokens" | "thinking" | "guardrail">;

/** Throws a Fault that names what the API does not have. */
export function toConverseBody(request: ChatRequest, model: string, settings: ConverseSettings): Block {
  const { messages, stop, temperature, topP, format } = request;
  const maxTokens = request.maxTokens ?? settings.maxOutputTokens;
  const system = messages.filter(isInstruction).flatMap((message) => toBlocks(message));
  const inference = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== 1 && { temperature }),
    ...(topP !== 1 && { topP }),
    ...(stop.length > 0 && { stopSequences: stop }),
  };
  if (format.type === "json") {
    const message =
      "Bedrock's API has no JSON mode: send a JSON schema as 'response_format', or ask for JSON in the prompt.";
    throw unsupportedValue(message, "response_format");
  }
  const { fields, effort } = toModelFields(request, model, settings);
  const output = {
    ...(format.type === "json-schema" && { textFormat: toTextFormat(format.schema) }),
    ...(effort !== undefined && { effort }),
  };
  const toolConfig = toToolConfig(request);
  return {
    messages: withEndMark(
      toTurns(
        messages.filter((message) => !isInstruction(message)),
        { assistant: fromAssistant, user: fromUser },
      ),
      request.cache,
    ),
    ...(system.length > 0 && { system }),
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(toolConfig !== undefined && { toolConfig }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    ...(stop.length > 0 && isClaude(model) && { additionalModelResponseFieldPaths: ["/stop_sequence"] }),
    ...(Object.keys(output).length > 0 && { outputConfig: output }),
    ...(settings.guardrail !== undefined && {
      guardrailConfig: {
        guardrailIdentifier: settings.guardrail.id,
        guardrailVersion: settings.guardrail.version,
      },
    }),
  };
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function isClaude(model: string): boolean {
  return model.includes("claude");
}

function withEndMark(turns: Turn<Block>[], cache: CacheMark | undefined): Turn<Block>[] {
  if (cache !== undefined) turns.at(-1)?.content.push(toCachePoint(cache));
  return turns;
}

function fromUser(message: ChatMessage): Block[] {
  if (message.role !== "tool") return toBlocks(message);
  const blocks = toBlocks(message);
  const content = blocks.filter((block) => block.cachePoint === undefined);
  const result = {
    toolUseId: toCallId(message.toolCallId ?? ""),
    content: content.length > 0 ? content : [{ text: " " }],
  };
  return [{ toolResult: result }, ...blocks.filter((block) => block.cachePoint !== undefined).slice(-1)];
}

function fromAssistant(message: ChatMessage): Block[] {
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: written }) => {
    return { toolUse: { toolUseId: toCallId(id), name, input: parseArguments(written) } };
  });
  return [...(message.reasoning ?? []).flatMap(toReasoning), ...toBlocks(message), ...calls];
}

/** Returns no block for reasoning of another provider; that of Claude is the same everywhere. */
function toReasoning({ text, signature, encrypted }: ReasoningBlock): Block[] {
  if (encrypted !== undefined) return [{ reasoningContent: { redactedContent: encrypted } }];
  const mark = ownSignature(signature, undefined);
  return mark === undefined ? [] : [{ reasoningContent: { reasoningText: { text, signature: mark } } }];
}

function toCallId(id: string): string {
  return id.replace(/[^\w-]/g, "_").slice(0, 64);
}

function toCachePoint({ ttl }: CacheMark): Block {
  return { cachePoint: { type: "default", ...(ttl !== undefined && { ttl }) } };
}

function toBlocks(message: ChatMessage): Block[] {
  return contentParts(message).flatMap((part, index) => {
    const block = toBlock(part, index);
    return [...(block === undefined ? [] : [block]), ...(part.cache === undefined ? [] : [toCachePoint(part.cache)])];
  });
}

const IMAGES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const DOCUMENTS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
};

/** Returns undefined for a text without characters, which the API refuses. */
function toBlock(part: ContentPart, index: number): Block | undefined {
  if (part.type === "text") return part.text === "" ? undefined : { text: part.text };
  const inline = inlineData(part.url);
  const param = part.type === "image" ? part.param.url : part.param;
  if (inline === undefined) {
    throw unsupportedValue("Bedrock's API fetches no addresses: send the content as a data: URL.", param);
  }
  const { mediaType, data } = inline;
  const format = (part.type === "image" ? IMAGES : DOCUMENTS)[mediaType];
  if (format === undefined) {
    throw unsupportedValue(`Bedrock's API does not read ${part.type}s of the type ${mediaType}.`, param);
  }
  if (part.type === "image") return { image: { format, source: { bytes: data } } };
  return { document: { format, name: toDocumentName(part.name, index), source: { bytes: data } } };
}

/** The API takes letters, digits, single spaces, hyphens, parentheses and brackets only. */
function toDocumentName(name: string | undefined, index: number): string {
  const plain = (name ?? "")
    .replace(/\.\w+$/, "")
    .replace(/[^a-z0-9()[\]-]+/gi, " ")
    .trim();
  return plain === "" ? `Document ${index + 1}` : plain.slice(0, 200);
}

function toToolConfig({ tools, toolChoice, messages }: ChatRequest): Block | undefined {
  if (tools.length === 0) return undefined;
  if (toolChoice === "none") {
    // Turns with calls need the definitions, with which the model may call.
    if (!messages.some(({ toolCalls }) => toolCalls !== undefined)) return undefined;
    const message =
      "Bedrock's API cannot forbid calls in a conversation that has some: leave out 'tool_choice': 'none'.";
    throw invalidRequest(message, "tool_choice", "unsupported_value");
  }
  const list = tools.flatMap(({ name, description, parameters, cache }) => [
    {
      toolSpec: {
        name,
        ...(description !== undefined && description !== "" && { description }),
        inputSchema: { json: parameters ?? { type: "object", properties: {} } },
      },
    },
    ...(cache === undefined ? [] : [toCachePoint(cache)]),
  ]);
  const choice =
    typeof toolChoice === "object"
      ? { tool: { name: toolChoice.name } }
      : { [toolChoice === "required" ? "any" : "auto"]: {} };
  return { tools: list, toolChoice: choice };
}

function toTextFormat(schema: unknown): Block {
  return { type: "json_schema", structure: { jsonSchema: { name: "answer", schema: JSON.stringify(schema) } } };
}

/** Limit with which a budget of reasoning is bounded where nothing limits the answer. */
const MAX_OUTPUT_TOKENS = 32_000;

/** Fields that are the model's own rather than Converse's. Throws a Fault for what the model does not have. */
function toModelFields(
  request: ChatRequest,
  model: string,
  settings: ConverseSettings,
): { fields: Block; effort?: string | undefined } {
  const { topK, reasoningEffort, thinking } = request;
  if (isClaude(model)) {
    const maxTokens = request.maxTokens ?? settings.maxOutputTokens ?? MAX_OUTPUT_TOKENS;
    const claude = toClaudeThinking(request, { provider: "Bedrock", model, maxTokens, mode: settings.thinking });
    const fields = {
      ...(topK !== undefined && { top_k: topK }),
      ...(claude.thinking !== undefined && { thinking: claude.thinking }),
    };
    return { fields, effort: claude.effort };
  }
  if (topK !== undefined) throw unsupportedValue("Bedrock's API has no 'top_k' for this model.", "top_k");
  const effort = reasoningEffort ?? thinking?.effort;
  if (effort === undefined || (effort === "none" && !model.includes("nova"))) return { fields: {} };
  if (model.includes("gpt-oss")) return { fields: { reasoning_effort: effort } };
  if (model.includes("nova")) {
    const reasoningConfig = effort === "none" ? { type: "disabled" } : { type: "enabled", maxReasoningEffort: effort };
    return { fields: { reasoningConfig } };
  }
  throw unsupportedValue("Bedrock's API has no effort of reasoning for this model.", "reasoning_effort");
}
