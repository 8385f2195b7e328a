/** Converts a validated body of POST /v1/responses to a chat call. */

import type { AnswerFormat, ChatRequest } from "../../engines/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../engines/default-chat-request.ts";
import type { CallerHeaders } from "../../engines/open-model.ts";
import { unsupportedValue } from "../../faults.ts";
import { toModerationInput } from "../moderation-texts.ts";
import type { ResponsesBody } from "./responses-body.ts";
import { type Prompt, toChatMessages } from "./responses-input.ts";
import { type ReadTools, toToolChoice } from "./responses-tools.ts";

/**
 * Converts the body to a call that is never forwarded: upstreams answer with typed events, as local models do. Throws a
 * Fault.
 */
export function toResponsesCall(body: ResponsesBody, prompt: Prompt, tools: ReadTools, callerHeaders: CallerHeaders) {
  const request: ChatRequest = {
    ...DEFAULT_CHAT_REQUEST,
    model: body.model,
    messages: toChatMessages(body.instructions, prompt),
    maxTokens: body.max_output_tokens,
    temperature: body.temperature ?? DEFAULT_CHAT_REQUEST.temperature,
    topP: body.top_p ?? DEFAULT_CHAT_REQUEST.topP,
    format: toFormat(body.text),
    ...toToolChoice(body.tool_choice, tools),
    parallelToolCalls: body.parallel_tool_calls ?? true,
    topLogprobs: asksForLogprobs(body) ? (body.top_logprobs ?? 0) : undefined,
    reasoningEffort: body.reasoning?.effort,
    promptCacheKey: body.prompt_cache_key,
    callerHeaders,
  };
  return { request, moderationInput: () => toModerationInput(request) };
}

function toFormat(text: ResponsesBody["text"]): AnswerFormat {
  if (text?.verbosity !== undefined && text.verbosity !== "medium") {
    const message = "Models here do not support a 'verbosity': say in 'instructions' how long the answer may be.";
    throw unsupportedValue(message, "text.verbosity");
  }
  switch (text?.format?.type) {
    case "json_object":
      return { type: "json" };
    case "json_schema":
      return { type: "json-schema", schema: text.format.schema, param: "text.format.schema" };
    default:
      return { type: "text" };
  }
}

function asksForLogprobs({ include, top_logprobs: top = 0 }: ResponsesBody): boolean {
  return top > 0 || include?.includes("message.output_text.logprobs") === true;
}
