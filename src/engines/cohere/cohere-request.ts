/** Writes a typed chat request as the body of Cohere's POST /v2/chat. */

import type { ChatMessage, ContentPart } from "../../contracts/chat-message.ts";
import type { AnswerFormat, ChatRequest } from "../../contracts/chat-model.ts";
import { messageText } from "../../contracts/message-text.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { ownSignature } from "../native-upstream/signatures.ts";
import type { CohereSettings } from "./settings.ts";

export const COHERE = "cohere";
/** Marks the reasoning that the API calls a plan, and takes back as one. */
export const PLAN = "plan";

type Fields = Record<string, unknown>;

/** Throws a Fault that names what the API does not have. */
export function toCohereBody(
  request: ChatRequest,
  model: string,
  settings: Pick<CohereSettings, "safetyMode">,
): Fields {
  const { temperature, topP, topK, maxTokens, stop, seed, frequencyPenalty, presencePenalty, format } = request;
  return {
    model,
    messages: request.messages.map(toMessage),
    stream: true,
    ...(temperature !== 1 && { temperature }),
    ...(topP !== 1 && { p: topP }),
    ...(topK !== undefined && { k: topK }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(seed !== undefined && { seed }),
    ...(frequencyPenalty !== 0 && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== 0 && { presence_penalty: presencePenalty }),
    ...(format.type !== "text" && { response_format: toFormat(format) }),
    ...toTools(request),
    ...toThinking(request),
    ...(settings.safetyMode !== undefined && { safety_mode: settings.safetyMode }),
  };
}

function toMessage(message: ChatMessage): Fields {
  const { role, content, toolCallId } = message;
  if (role === "assistant") return fromAssistant(message);
  if (role === "tool") return { role, tool_call_id: toolCallId, content: messageText(message) };
  const isUser = role === "user";
  return { role: isUser ? "user" : "system", content: typeof content === "string" ? content : content.map(toPart) };
}

function fromAssistant(message: ChatMessage): Fields {
  const { reasoning = [], toolCalls = [] } = message;
  const thoughts = reasoning.flatMap(({ text, signature }) => {
    const mark = ownSignature(signature, COHERE);
    return mark === undefined ? [] : [{ text, isPlan: mark === PLAN }];
  });
  const plan = thoughts.flatMap(({ text, isPlan }) => (isPlan ? [text] : [])).join("");
  const text = messageText(message);
  const parts = [
    ...thoughts.flatMap(({ text: thinking, isPlan }) =>
      isPlan || thinking === "" ? [] : [{ type: "thinking", thinking }],
    ),
    ...(text === "" ? [] : [{ type: "text", text }]),
  ];
  return {
    role: "assistant",
    ...(parts.length > 0 && { content: parts }),
    ...(plan !== "" && toolCalls.length > 0 && { tool_plan: plan }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: written }) => {
        return { id, type: "function", function: { name, arguments: written } };
      }),
    }),
  };
}

function toPart(part: ContentPart): Fields {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "file") throw unsupportedValue("Cohere's API reads no files.", part.param);
  return { type: "image_url", image_url: { url: part.url } };
}

function toFormat(format: Exclude<AnswerFormat, { type: "text" }>): Fields {
  return { type: "json_object", ...(format.type === "json-schema" && { json_schema: format.schema }) };
}

/** The API has no choice of one tool: a model that has to call and has only this one calls it. */
function toTools({ tools, toolChoice }: ChatRequest): Fields {
  if (tools.length === 0) return {};
  const isNamed = typeof toolChoice === "object";
  const offered = isNamed ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const choice = { none: "NONE", required: "REQUIRED", auto: undefined }[isNamed ? "required" : toolChoice];
  return {
    tools: offered.map(({ name, description, parameters }) => ({
      type: "function",
      function: {
        name,
        ...(description !== undefined && { description }),
        parameters: parameters ?? { type: "object", properties: {} },
      },
    })),
    ...(choice !== undefined && { tool_choice: choice }),
  };
}

const BUDGETS: Readonly<Record<string, number>> = { minimal: 512, low: 2048, medium: 8192, high: 24_576 };

function toThinking({ reasoningEffort, thinking }: ChatRequest): Fields {
  const effort = reasoningEffort ?? thinking?.effort;
  if (effort === "none") return { thinking: { type: "disabled" } };
  if (effort === undefined && thinking?.isEnabled !== true) return {};
  const budget = thinking?.budgetTokens ?? (effort === undefined ? undefined : BUDGETS[effort]);
  if (effort !== undefined && budget === undefined) {
    const efforts = `none, ${Object.keys(BUDGETS).join(", ")}`;
    const message = `Cohere's API has no effort '${effort.slice(0, 50)}': send ${efforts}.`;
    throw unsupportedValue(message, "reasoning_effort");
  }
  return { thinking: { type: "enabled", ...(budget !== undefined && { token_budget: budget }) } };
}
