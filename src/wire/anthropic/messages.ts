import { toAnswerParts } from "../answer-parts.ts";
import type { ChatFormat, FormatAnswer, FormatChat, FormatContext } from "../chat-format.ts";
import { toForwardedAnswer, toForwardedFrames } from "../forwarded-answer.ts";
import type { ResponseParts } from "../responses/responses-format.ts";
import { toAnthropicErrorBody } from "./error.ts";
import { toMessage } from "./messages-answer.ts";
import { type MessagesBody, readMessagesBody } from "./messages-body.ts";
import { ignoredFields, type ServedMcp, showsThinking, toMessagesCall } from "./messages-call.ts";
import { type MessagePartEvent, toMessageParts } from "./messages-parts.ts";
import { PING, toErrorFrame, toMessageFrames } from "./messages-stream.ts";
import { toRateLimitHeaders } from "./rate-limit-headers.ts";

export interface MessageChat extends FormatChat {
  body: MessagesBody;
  context: FormatContext;
  /** What this service runs of the request's MCP servers; undefined: nothing. */
  mcp?: ServedMcp | undefined;
}

/** POST /v1/messages */
export const messagesFormat: ChatFormat<FormatContext, MessageChat> = {
  read: (value, context) => {
    const body = readMessagesBody(value);
    return { model: body.model, isStreamed: body.stream === true, requestId: context.requestId, body, context };
  },
  call: ({ body, context, mcp }) => toMessagesCall(body, context.callerHeaders, context.unknownFields, mcp),
  answer: (answer, chat) => toMessage(partsOf(answer, chat), answer),
  frames: (answer, chat) => toMessageFrames(partsOf(answer, chat), answer),
  forwarded: { answer: (bytes) => toForwardedAnswer(bytes), frames: (bytes) => toForwardedFrames(bytes) },
  errorFrame: (failure, { requestId }) => toErrorFrame(toAnthropicErrorBody(failure, requestId)),
  waitFrame: () => PING,
  ignored: (_answer, { body, mcp }) => ignoredFields(body, mcp?.types),
  headers: ({ requestId }, limits = {}) => ({ "request-id": requestId, ...toRateLimitHeaders(limits) }),
};

function partsOf(answer: FormatAnswer & ResponseParts, { body }: MessageChat): AsyncIterable<MessagePartEvent> {
  const shows = showsThinking(body);
  return answer.parts === undefined ? toAnswerParts(answer, shows) : toMessageParts(answer.parts, shows);
}
