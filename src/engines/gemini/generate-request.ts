/** Writes a typed chat request as the body of Gemini's `generateContent`. */

import type { ChatMessage, ContentPart, ToolCall } from "../../contracts/chat-message.ts";
import type { ChatRequest } from "../../contracts/chat-model.ts";
import { contentParts } from "../../contracts/message-text.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { inlineData, parseArguments } from "../native-upstream/content-urls.ts";
import { ownSignature } from "../native-upstream/signatures.ts";
import type { GeminiSettings } from "./settings.ts";

type Part = Record<string, unknown>;
type BodySettings = Pick<GeminiSettings, "isVertex" | "thinking" | "safety">;

export const GEMINI = "gemini";

/** Throws a Fault that names what the API does not have. */
export function toGenerateBody(request: ChatRequest, model: string, settings: BodySettings): Record<string, unknown> {
  const { messages, tools } = request;
  const instructions = messages.filter(isInstruction).flatMap((message) => toParts(message));
  const safety = Object.entries(settings.safety).map(([category, threshold]) => ({ category, threshold }));
  return {
    contents: toContents(
      messages.filter((message) => !isInstruction(message)),
      model,
      settings,
    ),
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    generationConfig: toConfig(request, model, settings),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(toDeclaration) }] }),
    ...(tools.length > 0 && { toolConfig: { functionCallingConfig: toCallingConfig(request) } }),
    ...(safety.length > 0 && { safetySettings: safety }),
  };
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

/** Joins messages of one side, because the results of calls belong into one turn. */
function toContents(messages: readonly ChatMessage[], model: string, { isVertex }: BodySettings): object[] {
  const names = new Map<string, string>();
  const contents: { role: string; parts: Part[] }[] = [];
  for (const message of messages) {
    for (const { id, name } of message.toolCalls ?? []) names.set(id, name);
    const role = message.role === "assistant" ? "model" : "user";
    const parts =
      message.role === "tool"
        ? [toResult(message, names, isVertex)]
        : role === "model"
          ? fromAssistant(message, model, isVertex)
          : toParts(message);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  return contents;
}

/** IDs that this service made are nothing to the provider, and Vertex AI knows none. */
function toId(id: string, isVertex: boolean): Part {
  return isVertex || id.startsWith("call_") ? {} : { id };
}

function toResult(message: ChatMessage, names: ReadonlyMap<string, string>, isVertex: boolean): Part {
  const text = contentParts(message)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
  const id = message.toolCallId ?? "";
  const parsed = parseArguments(text);
  const response = Object.keys(parsed).length > 0 ? parsed : { result: text };
  return { functionResponse: { ...toId(id, isVertex), name: names.get(id) ?? message.name ?? "", response } };
}

/** Google's documented value for calls of other models, of which no signature exists. */
const NO_SIGNATURE = "skip_thought_signature_validator";
/** Models that verify no signatures. */
const UNSIGNED_MODELS = /gemini-(?:1|2|pro|flash)\b/;

function fromAssistant(message: ChatMessage, model: string, isVertex: boolean): Part[] {
  const { reasoning = [], toolCalls = [] } = message;
  const [signature] = reasoning.flatMap((block) => ownSignature(block.signature, GEMINI) ?? []);
  const parts = toParts(message);
  const calls = toolCalls.map((call) => toFunctionCall(call, isVertex));
  const first = calls[0];
  const last = parts.at(-1);
  if (first !== undefined && first.thoughtSignature === undefined) {
    const value = signature ?? (UNSIGNED_MODELS.test(model) ? undefined : NO_SIGNATURE);
    if (value !== undefined) first.thoughtSignature = value;
  } else if (first === undefined && last !== undefined && signature !== undefined) last.thoughtSignature = signature;
  return [...parts, ...calls];
}

function toFunctionCall({ id, name, arguments: written, signature }: ToolCall, isVertex: boolean): Part {
  // Clients of Google's own compatible API send it as the provider wrote it.
  const mark = signature?.includes("#") ? ownSignature(signature, GEMINI) : signature;
  return {
    functionCall: { ...toId(id, isVertex), name, args: parseArguments(written) },
    ...(mark !== undefined && { thoughtSignature: mark }),
  };
}

function toParts(message: ChatMessage): Part[] {
  return contentParts(message).flatMap((part) => (part.type === "text" && part.text === "" ? [] : [toPart(part)]));
}

/** Types by the end of an address, which the API wants to know before it fetches. */
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  heic: "image/heic",
  gif: "image/gif",
  pdf: "application/pdf",
};

function toPart(part: ContentPart): Part {
  if (part.type === "text") return { text: part.text };
  const inline = inlineData(part.url);
  if (inline !== undefined) return { inlineData: { mimeType: inline.mediaType, data: inline.data } };
  const mimeType = TYPES[/\.(\w+)$/.exec(URL.parse(part.url)?.pathname ?? "")?.[1]?.toLowerCase() ?? ""];
  if (mimeType !== undefined) return { fileData: { fileUri: part.url, mimeType } };
  const param = part.type === "image" ? part.param.url : part.param;
  const message =
    "Gemini's API wants to know the type of what it fetches, and this address does not end in one, such as .png or .pdf: send the content as a data: URL.";
  throw unsupportedValue(message, param);
}

function toDeclaration({ name, description, parameters }: ChatRequest["tools"][number]): object {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  };
}

function toCallingConfig({ toolChoice }: ChatRequest): object {
  if (typeof toolChoice === "object") return { mode: "ANY", allowedFunctionNames: [toolChoice.name] };
  return { mode: { auto: "AUTO", required: "ANY", none: "NONE" }[toolChoice] };
}

function toConfig(request: ChatRequest, model: string, settings: BodySettings): object {
  const { temperature, topP, topK, maxTokens, stop, seed, choices, format } = request;
  const { presencePenalty, frequencyPenalty, topLogprobs } = request;
  return {
    ...(temperature !== 1 && { temperature }),
    ...(topP !== 1 && { topP }),
    ...(topK !== undefined && { topK }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(stop.length > 0 && { stopSequences: stop }),
    ...(seed !== undefined && { seed }),
    ...(choices !== 1 && { candidateCount: choices }),
    ...(presencePenalty !== 0 && { presencePenalty }),
    ...(frequencyPenalty !== 0 && { frequencyPenalty }),
    ...(topLogprobs !== undefined && { responseLogprobs: true, ...(topLogprobs > 0 && { logprobs: topLogprobs }) }),
    ...(format.type !== "text" && { responseMimeType: "application/json" }),
    ...(format.type === "json-schema" && { responseJsonSchema: format.schema }),
    ...toThinkingConfig(request, model, settings),
  };
}

const BUDGET_MODELS = /gemini-2\.5/;
const BUDGETS: Readonly<Record<string, number>> = { none: 0, minimal: 512, low: 1024, medium: 8192, high: 24_576 };
const LEVELS: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high"]);

function toThinkingConfig({ reasoningEffort, thinking }: ChatRequest, model: string, settings: BodySettings): object {
  const effort = reasoningEffort ?? thinking?.effort;
  if (effort === undefined && thinking?.isEnabled !== true) return {};
  const mode = settings.thinking ?? (BUDGET_MODELS.test(model) ? "budget" : "level");
  if (mode === "budget") return { thinkingConfig: toBudget(thinking?.budgetTokens, effort) };
  if (effort !== undefined && !LEVELS.has(effort)) throw unsupportedEffort(effort, [...LEVELS]);
  return { thinkingConfig: { includeThoughts: true, ...(effort !== undefined && { thinkingLevel: effort }) } };
}

function toBudget(budgetTokens: number | undefined, effort: string | undefined): object {
  const thinkingBudget = budgetTokens ?? (effort === undefined ? -1 : BUDGETS[effort]);
  if (thinkingBudget === undefined) throw unsupportedEffort(String(effort), Object.keys(BUDGETS));
  return { ...(thinkingBudget !== 0 && { includeThoughts: true }), thinkingBudget };
}

function unsupportedEffort(effort: string, efforts: readonly string[]): Fault {
  const message = `Gemini's API has no effort '${effort.slice(0, 50)}' for this model: send ${efforts.join(", ")}.`;
  return unsupportedValue(message, "reasoning_effort");
}
