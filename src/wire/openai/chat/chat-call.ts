/** Converts a validated body of POST /v1/chat/completions to a chat call. */

import type { ChatDefaults, ChatRequest } from "../../../contracts/chat-model.ts";
import type { PassThrough } from "../../../contracts/chat-proxy.ts";
import type { CallerHeaders } from "../../../contracts/open-model.ts";
import { jsonBytes } from "../../../kernel/json/json-bytes.ts";
import type { UnknownFieldsPolicy } from "../unknown-fields.ts";
import { chatAnswerText } from "./chat-answer-text.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import { withChatDefaults } from "./chat-defaults.ts";
import { toOpenAiFormat } from "./chat-format.ts";
import { toModerationInput } from "./chat-moderation-input.ts";
import { toChatRequest } from "./chat-request.ts";
import { firstUnsupportedField } from "./local-unsupported-fields.ts";

interface ParsedChatCall {
  request: ChatRequest;
  passThrough: PassThrough;
  moderationInput(): ReturnType<typeof toModerationInput>;
  withDefaults(defaults: ChatDefaults): ParsedChatCall;
}

/** `sent`: the body without the model's defaults, among which a misspelled field would pass for another one. */
export function toChatCall(
  body: ChatCompletionBody,
  callerHeaders: CallerHeaders,
  policy: UnknownFieldsPolicy,
  sent = body,
): ParsedChatCall {
  const call: ParsedChatCall = {
    request: toChatRequest(body, callerHeaders),
    passThrough: {
      body: toForwardedBody(body),
      stream: body.stream === true,
      unsupportedLocally: () => firstUnsupportedField(sent, policy),
      promptBytes: () => promptBytes(body),
      answerText: chatAnswerText,
    },
    moderationInput: () => toModerationInput(body),
    withDefaults: (defaults) => {
      const complete = withChatDefaults(body, defaults);
      return complete === body ? call : toChatCall(complete, callerHeaders, policy, sent);
    },
  };
  return call;
}

/** Removes `moderation`, which the service itself honors, and writes a schema in the form that upstreams read. */
function toForwardedBody(body: ChatCompletionBody): PassThrough["body"] {
  const { moderation, response_format: format } = body;
  if (moderation === undefined && format === undefined) return body;
  const { moderation: _own, ...others } = body;
  return format === undefined ? others : { ...others, response_format: toOpenAiFormat(format) };
}

/** Counts the bytes of the fields that prompts consist of. */
function promptBytes(body: ChatCompletionBody): number {
  const { messages, tools, response_format, guided_json, structured_outputs } = body;
  const schemas = [response_format, guided_json, structured_outputs].filter((each) => each !== undefined);
  return jsonBytes([messages, tools, ...schemas], "image_url");
}
