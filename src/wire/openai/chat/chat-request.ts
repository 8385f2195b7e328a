/** Converts a validated body of POST /v1/chat/completions to the engines' request. */

import type { ChatMessage } from "../../../contracts/chat-message.ts";
import type { ChatRequest } from "../../../contracts/chat-model.ts";
import type { CallerHeaders } from "../../../contracts/open-model.ts";
import { deferField, type JsonOutline, outlineOf } from "../../../kernel/json/json-outline.ts";
import { toUpstreamFields } from "../../upstream-fields.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import { continuationOf } from "./chat-continuation.ts";
import { toAnswerFormat } from "./chat-format.ts";
import { toMessage } from "./chat-messages.ts";
import { toToolChoice, toTools } from "./chat-tools.ts";
import { toSampling } from "./sampling-fields.ts";

export function toChatRequest(body: ChatCompletionBody, callerHeaders: CallerHeaders): ChatRequest {
  const isOutlined = outlineOf(body) !== undefined;
  const begun = continuationOf(body);
  const request: ChatRequest = {
    model: body.model,
    messages: isOutlined ? [] : body.messages.map(toMessage),
    maxTokens: lower(body.max_tokens, body.max_completion_tokens),
    ...toSampling(body),
    format: toAnswerFormat(body),
    tools: toTools(body.tools ?? [], body.tool_choice),
    toolChoice: toToolChoice(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls ?? true,
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
    reasoningEffort: toReasoningEffort(body),
    templateVariables: body.chat_template_kwargs,
    promptCacheKey: typeof body.prompt_cache_key === "string" ? body.prompt_cache_key : undefined,
    ...toUpstreamFields(body),
    ...(begun !== undefined && {
      continuation: "required" as const,
      repeatsBeginning: begun.repeated !== undefined,
    }),
    callerHeaders,
  };
  if (isOutlined) deferField(request, "messages", () => body.messages.map(toMessage));
  return request;
}

/** Converts the messages of an outline, whose long texts are short. */
export function toOutlinedMessages({ fields }: JsonOutline): ChatMessage[] {
  return (fields.messages as ChatCompletionBody["messages"]).map(toMessage);
}

/** Reads the effort from OpenAI's field, Ollama's `think`, or template variables. */
function toReasoningEffort({ reasoning_effort, think, chat_template_kwargs = {} }: ChatCompletionBody) {
  if (reasoning_effort !== undefined) return reasoning_effort;
  if (typeof think === "string") return think;
  const { enable_thinking, thinking, reasoning_effort: inTemplate } = chat_template_kwargs;
  if ((think ?? enable_thinking ?? thinking) === false) return "none";
  return typeof inTemplate === "string" ? inTemplate : undefined;
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}
