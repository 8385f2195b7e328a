import { toAnswerParts } from "../answer-parts.ts";
import type { ChatFormat, FormatChat, FormatContext } from "../chat-format.ts";
import { toForwardedAnswer, toForwardedFrames } from "../forwarded-answer.ts";
import { toAnthropicErrorBody } from "./error.ts";
import { toMessage } from "./messages-answer.ts";
import { type MessagesBody, readMessagesBody } from "./messages-body.ts";
import { ignoredFields, showsThinking, toMessagesCall } from "./messages-call.ts";
import { PING, toErrorFrame, toMessageFrames } from "./messages-stream.ts";
import { toRateLimitHeaders } from "./rate-limit-headers.ts";

interface MessageChat extends FormatChat {
  body: MessagesBody;
  context: FormatContext;
}

/** POST /v1/messages */
export const messagesFormat: ChatFormat<FormatContext, MessageChat> = {
  read: (value, context) => {
    const body = readMessagesBody(value);
    return { model: body.model, isStreamed: body.stream === true, requestId: context.requestId, body, context };
  },
  call: ({ body, context }) => toMessagesCall(body, context.callerHeaders, context.unknownFields),
  answer: (answer, { body }) => toMessage(toAnswerParts(answer, showsThinking(body)), answer),
  frames: (answer, { body }) => toMessageFrames(toAnswerParts(answer, showsThinking(body)), answer),
  forwarded: { answer: (bytes) => toForwardedAnswer(bytes), frames: (bytes) => toForwardedFrames(bytes) },
  errorFrame: (failure, { requestId }) => toErrorFrame(toAnthropicErrorBody(failure, requestId)),
  waitFrame: () => PING,
  ignored: (_answer, { body }) => ignoredFields(body),
  headers: ({ requestId }, limits = {}) => ({ "request-id": requestId, ...toRateLimitHeaders(limits) }),
};
