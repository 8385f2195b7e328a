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
  answer: (answer, { body }) => {
    if (answer.form === "forwarded") return toForwardedAnswer(answer.events);
    return toMessage(toAnswerParts(answer, showsThinking(body)), answer.model);
  },
  frames: (answer, { body }) => {
    if (answer.form === "forwarded") return toForwardedFrames(answer.events);
    return toMessageFrames(toAnswerParts(answer, showsThinking(body)), answer.model);
  },
  errorFrame: (failure, { requestId }) => toErrorFrame(toAnthropicErrorBody(failure, requestId)),
  waitFrame: () => PING,
  ignored: ({ form }, { body }) => (form === "typed" ? ignoredFields(body) : []),
  headers: ({ requestId }, limits = {}) => ({ "request-id": requestId, ...toRateLimitHeaders(limits) }),
};
