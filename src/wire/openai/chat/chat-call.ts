/** Converts a validated body of POST /v1/chat/completions to a chat call. */

import type { ChatCall } from "../../../contracts/chat-call.ts";
import type { ChatMessage } from "../../../contracts/chat-message.ts";
import type { ChatDefaults, ChatRequest } from "../../../contracts/chat-model.ts";
import type { PassThrough } from "../../../contracts/chat-proxy.ts";
import type { CallerHeaders } from "../../../contracts/open-model.ts";
import { jsonBytes } from "../../../kernel/json/json-bytes.ts";
import { type JsonOutline, outlineOf } from "../../../kernel/json/json-outline.ts";
import { chatContentOf } from "../../forwarded-content.ts";
import type { UnknownFieldsPolicy } from "../unknown-fields.ts";
import { chatAnswerText } from "./chat-answer-text.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import { withChatDefaults } from "./chat-defaults.ts";
import { toOpenAiFormat } from "./chat-format.ts";
import { toModerationInput } from "./chat-moderation-input.ts";
import { toChatRequest, toOutlinedMessages } from "./chat-request.ts";
import { firstUnsupportedField } from "./local-unsupported-fields.ts";

function outlinedPromptBytes(body: ChatCompletionBody, { fields, hiddenBytes }: JsonOutline): number {
  return promptBytes(body, fields.messages as ChatCompletionBody["messages"]) + hiddenBytes;
}

interface ParsedChatCall extends Pick<ChatCall, "outline" | "isStored"> {
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
  const outline = outlineOf(body);
  const call: ParsedChatCall = {
    request: toChatRequest(body, callerHeaders),
    ...(body.store === true && { isStored: true }),
    ...(outline && { outline: onceOutlined(outline) }),
    passThrough: {
      body: toForwardedBody(body),
      stream: body.stream === true,
      unsupportedLocally: () => firstUnsupportedField(sent, policy),
      promptBytes: () => (outline === undefined ? promptBytes(body) : outlinedPromptBytes(body, outline)),
      contentOf: chatContentOf,
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

/**
 * Removes `moderation` and `store`, which the service itself honors, and writes a schema in the form that upstreams
 * read. An upstream would store content of all projects under its one key.
 */
function toForwardedBody(body: ChatCompletionBody): PassThrough["body"] {
  if (body.store === true) {
    const { store: _store, metadata: _metadata, ...others } = body;
    return toForwardedBody(others as ChatCompletionBody);
  }
  const { moderation, response_format: format } = body;
  if (moderation === undefined && format === undefined) return body;
  const { moderation: _own, ...others } = body;
  return format === undefined ? others : { ...others, response_format: toOpenAiFormat(format) };
}

function onceOutlined(outline: JsonOutline): NonNullable<ChatCall["outline"]> {
  let messages: ChatMessage[] | undefined;
  return () => {
    messages ??= toOutlinedMessages(outline);
    return { messages, hiddenBytes: outline.hiddenBytes };
  };
}

/** Counts the bytes of the fields that prompts consist of. */
function promptBytes(body: ChatCompletionBody, messages = body.messages): number {
  const { tools, response_format, guided_json, structured_outputs } = body;
  const schemas = [response_format, guided_json, structured_outputs].filter((each) => each !== undefined);
  return jsonBytes([messages, tools, ...schemas], "image_url");
}
