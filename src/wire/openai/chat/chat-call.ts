/** Converts a validated body of POST /v1/chat/completions to a chat call. */

import type { ChatDefaults, ChatRequest } from "../../../contracts/chat-model.ts";
import type { PassThrough } from "../../../contracts/chat-proxy.ts";
import type { CallerHeaders } from "../../../contracts/open-model.ts";
import { jsonBytes } from "../../../kernel/json/json-bytes.ts";
import type { UnknownFieldsPolicy } from "../unknown-fields.ts";
import { forwardedAnswers } from "./chat-answer-text.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import { withChatDefaults } from "./chat-defaults.ts";
import { toModerationInput } from "./chat-moderation-input.ts";
import { toChatRequest } from "./chat-request.ts";
import { firstUnsupportedField } from "./local-unsupported-fields.ts";

interface ParsedChatCall {
  request: ChatRequest;
  passThrough: PassThrough;
  moderationInput(): ReturnType<typeof toModerationInput>;
  withDefaults(defaults: ChatDefaults): ParsedChatCall;
}

export function toChatCall(
  body: ChatCompletionBody,
  callerHeaders: CallerHeaders,
  policy: UnknownFieldsPolicy,
): ParsedChatCall {
  return {
    request: toChatRequest(body, callerHeaders),
    passThrough: toPassThrough(body, policy),
    moderationInput: () => toModerationInput(body),
    withDefaults: (defaults) => toChatCall(withChatDefaults(body, defaults), callerHeaders, policy),
  };
}

function toPassThrough(body: ChatCompletionBody, policy: UnknownFieldsPolicy): PassThrough {
  return {
    body: withoutModeration(body),
    stream: body.stream === true,
    unsupportedLocally: () => firstUnsupportedField(body, policy),
    promptBytes: () => promptBytes(body),
    answers: forwardedAnswers,
  };
}

/** Removes `moderation`, which the service itself honors. */
function withoutModeration(body: ChatCompletionBody): PassThrough["body"] {
  if (body.moderation === undefined) return body;
  const { moderation: _own, ...others } = body;
  return others;
}

/** Counts the bytes of the fields that prompts consist of. */
function promptBytes({ messages, tools, response_format, guided_json }: ChatCompletionBody): number {
  const schemas = guided_json === undefined ? [response_format] : [response_format, guided_json];
  return jsonBytes([messages, tools, ...schemas], "image_url");
}
