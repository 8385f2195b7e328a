/** Converts a validated body of POST /v1/responses to a chat call. */

import type { AnswerFormat, ChatDefaults, ChatRequest } from "../../contracts/chat-model.ts";
import type { PassThrough } from "../../contracts/chat-proxy.ts";
import { defaultChatRequest } from "../../contracts/default-chat-request.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { Fault } from "../../kernel/faults.ts";
import { jsonBytes } from "../../kernel/json/json-bytes.ts";
import { responseContentOf } from "../forwarded-content.ts";
import { toModerationInput } from "../moderation-input.ts";
import type { UnknownFieldsPolicy } from "../openai/unknown-fields.ts";
import { toUpstreamFields } from "../upstream-fields.ts";
import { nativeResponses } from "./native-responses.ts";
import { isEnvelope } from "./reasoning-content.ts";
import { KNOWN_FIELDS, type ResponsesBody } from "./responses-body.ts";
import { type InputItem, type Prompt, toChatMessages } from "./responses-input.ts";
import { toToolChoice } from "./responses-tool-choice.ts";
import type { HostedToolsPolicy, ReadTools } from "./responses-tools.ts";
import { firstUnsupported } from "./unsupported-fields.ts";

interface ResponsesCall {
  request: ChatRequest;
  passThrough: PassThrough;
  moderationInput(): ReturnType<typeof toModerationInput>;
  withDefaults(defaults: ChatDefaults): ResponsesCall;
}

interface ResponsesCallOptions {
  tools: ReadTools;
  callerHeaders: CallerHeaders;
  /** Whether this service stores the response. */
  store: boolean;
  policy: UnknownFieldsPolicy;
  hostedTools: HostedToolsPolicy;
}

/**
 * Converts the body to a call that upstreams with the Responses API get as it is. Throws a Fault for invalid values.
 */
export function toResponsesCall(
  body: ResponsesBody,
  prompt: Prompt,
  options: ResponsesCallOptions,
  defaults: ChatDefaults = {},
): ResponsesCall {
  const { tools, callerHeaders, store, policy } = options;
  const omitted = defaultChatRequest(defaults);
  const unsupported: Fault[] = [];
  /** Notes what only an upstream may support. */
  const attempt = <Value>(convert: () => Value, otherwise: () => Value): Value => {
    try {
      return convert();
    } catch (fault) {
      if (!(fault instanceof Fault) || fault.code !== "unsupported_value") throw fault;
      unsupported.push(fault);
      return otherwise();
    }
  };
  const request: ChatRequest = {
    ...omitted,
    model: body.model,
    messages: attempt(
      () => toChatMessages(body.instructions, prompt),
      () => [{ role: "user", content: JSON.stringify(prompt) }],
    ),
    maxTokens: body.max_output_tokens ?? omitted.maxTokens,
    temperature: body.temperature ?? omitted.temperature,
    topP: body.top_p ?? omitted.topP,
    frequencyPenalty: body.frequency_penalty ?? omitted.frequencyPenalty,
    presencePenalty: body.presence_penalty ?? omitted.presencePenalty,
    format: toFormat(body.text),
    ...attempt(
      () => toToolChoice(body.tool_choice, tools),
      () => ({ tools: tools.tools, toolChoice: "auto" }),
    ),
    parallelToolCalls: body.parallel_tool_calls ?? true,
    topLogprobs: asksForLogprobs(body) ? (body.top_logprobs ?? 0) : undefined,
    reasoningEffort: body.reasoning?.effort ?? omitted.reasoningEffort,
    verbosity: body.text?.verbosity,
    promptCacheKey: body.prompt_cache_key,
    ...toUpstreamFields(body),
    callerHeaders,
  };
  const { input, instructions, text } = body;
  const passThrough: PassThrough = {
    native: nativeResponses(body, store),
    body: toForwardedBody(body, prompt),
    stream: body.stream === true,
    unsupportedLocally: () =>
      firstUnsupported(body, KNOWN_FIELDS, policy, options.hostedTools, tools.served) ?? unsupported[0],
    promptBytes: () => jsonBytes([prompt.context, input, instructions, body.tools, text], "image_url"),
    contentOf: responseContentOf,
  };
  return {
    request,
    passThrough,
    moderationInput: () => toModerationInput(request),
    withDefaults: (more) => toResponsesCall(body, prompt, options, { ...more, ...defaults }),
  };
}

/**
 * Returns the body for an upstream, which stores nothing: its key is shared by projects, and ids of its responses would
 * be found by all of them.
 */
function toForwardedBody(body: ResponsesBody, { context, input }: Prompt): PassThrough["body"] {
  const { previous_response_id: _previous, conversation: _conversation, moderation: _own, ...others } = body;
  const { background: _background, prompt: _prompt, ...sent } = others;
  const isStored = context.length > 0 || (typeof input !== "string" && input !== body.input);
  if (!isStored) return { ...sent, store: false };
  const newItems = typeof input === "string" ? [{ role: "user", content: input }] : input;
  return { ...sent, input: [...context, ...newItems].flatMap(withoutId), store: false };
}

/** Removes what refers to this service's storage; reasoning without encrypted content is nothing without it. */
function withoutId({ id, status: _status, ...item }: InputItem): InputItem[] {
  if (item.type !== "reasoning") return [item];
  const { encrypted_content: content } = item;
  return typeof content === "string" && !isEnvelope(content) ? [{ id, ...item }] : [];
}

function toFormat(text: ResponsesBody["text"]): AnswerFormat {
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
