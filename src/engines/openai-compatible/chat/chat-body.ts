/** Writes a typed chat request as the body that an upstream with OpenAI's API reads. */

import type { ChatMessage, ContentPart, FilePart, ToolCall } from "../../../contracts/chat-message.ts";
import type {
  AnswerFormat,
  ChatRequest,
  RawPrompt,
  Tool,
  ToolChoice,
  UpstreamFields,
} from "../../../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../../contracts/default-chat-request.ts";

type Body = Record<string, unknown>;

/** Builds the body without fields at their default, so the upstream's defaults apply. Always requests a stream. */
export function toChatBody(request: ChatRequest): Body {
  const { tools, topLogprobs } = request;
  return {
    messages: request.messages.map(toMessage),
    stream: true,
    ...changed(request, "maxTokens", "max_tokens"),
    ...changed(request, "temperature", "temperature"),
    ...changed(request, "topP", "top_p"),
    ...changed(request, "topK", "top_k"),
    ...changed(request, "minP", "min_p"),
    ...changed(request, "seed", "seed"),
    ...changed(request, "frequencyPenalty", "frequency_penalty"),
    ...changed(request, "presencePenalty", "presence_penalty"),
    ...changed(request, "repeatPenalty", "repetition_penalty"),
    ...changed(request, "choices", "n"),
    ...changed(request, "reasoningEffort", "reasoning_effort"),
    ...changed(request, "verbosity", "verbosity"),
    ...changed(request, "repeatLastN", "repeat_last_n"),
    ...changed(request, "minTokens", "min_tokens"),
    ...changed(request, "templateVariables", "chat_template_kwargs"),
    ...changed(request, "promptCacheKey", "prompt_cache_key"),
    ...toFields(request.upstreamFields),
    ...(request.stop.length === 0 ? {} : { stop: request.stop }),
    ...(Object.keys(request.logitBias).length === 0 ? {} : { logit_bias: request.logitBias }),
    ...(request.format.type === "text" ? {} : { response_format: toResponseFormat(request.format) }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool), tool_choice: toToolChoice(request.toolChoice) }),
    ...(tools.length === 0 || request.parallelToolCalls ? {} : { parallel_tool_calls: false }),
    ...(topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: topLogprobs }),
  };
}

/** Builds the body of a text completion from the fields that apply to it. */
export function toCompletionBody(request: ChatRequest, { input, suffix, echo }: RawPrompt): Body {
  const { messages: _messages, top_logprobs, logprobs: _logprobs, ...fields } = toChatBody(request);
  return {
    prompt: input,
    ...fields,
    ...(suffix === undefined ? {} : { suffix }),
    ...(echo === true ? { echo } : {}),
    ...(top_logprobs === undefined ? {} : { logprobs: top_logprobs }),
  };
}

function changed(request: ChatRequest, field: keyof ChatRequest, name: string): Body {
  const value = request[field];
  const defaultValue = (DEFAULT_CHAT_REQUEST as Partial<ChatRequest>)[field];
  return value === undefined || value === defaultValue ? {} : { [name]: value };
}

function toFields({ user, safetyIdentifier, promptCacheRetention, ...fields }: UpstreamFields = {}): Body {
  const { promptCacheOptions, serviceTier } = fields;
  return {
    ...(user === undefined ? {} : { user }),
    ...(safetyIdentifier === undefined ? {} : { safety_identifier: safetyIdentifier }),
    ...(promptCacheRetention === undefined ? {} : { prompt_cache_retention: promptCacheRetention }),
    ...(promptCacheOptions === undefined ? {} : { prompt_cache_options: promptCacheOptions }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
  };
}

export function toMessage({ role, content, toolCalls, toolCallId, name }: ChatMessage): Body {
  const hasOnlyCalls = content === "" && toolCalls !== undefined;
  return {
    role,
    ...(name === undefined ? {} : { name }),
    content: hasOnlyCalls ? null : typeof content === "string" ? content : content.map(toPart),
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls.map(toCall) }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  };
}

function toPart(part: ContentPart): Body {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "file") return { type: "file", file: toFile(part) };
  return {
    type: "image_url",
    image_url: { url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) },
  };
}

function toFile({ url, name }: FilePart): Body {
  return { ...(name === undefined ? {} : { filename: name }), file_data: url };
}

function toCall({ id, name, arguments: written }: ToolCall): Body {
  return { id, type: "function", function: { name, arguments: written } };
}

export function toTool({ name, description, parameters, isStrict }: Tool): Body {
  const strict = isStrict === true ? { strict: true } : {};
  return { type: "function", function: { name, description, parameters, ...strict } };
}

function toToolChoice(choice: ToolChoice): unknown {
  return typeof choice === "string" ? choice : { type: "function", function: choice };
}

function toResponseFormat(format: Exclude<AnswerFormat, { type: "text" }>): Body {
  if (format.type === "json") return { type: "json_object" };
  return { type: "json_schema", json_schema: { name: "answer", schema: format.schema, strict: true } };
}
