import { type ChatFormat, type FormatChat, type FormatContext, waitComment } from "../chat-format.ts";
import type { ChatCompletionBody } from "../openai/chat/chat-body.ts";
import { toCohereChat, toCohereFrames } from "./chat-answer.ts";
import { type CohereChatBody, readCohereChatBody } from "./chat-body.ts";
import { ignoredFields, toChatBody, toCohereCall } from "./chat-call.ts";
import { toCohereErrorFrame } from "./error.ts";

interface CohereChat extends FormatChat {
  sent: CohereChatBody;
  /** The prompt. */
  body: ChatCompletionBody;
  context: FormatContext;
  ignored: readonly string[];
}

/** POST /v2/chat */
export const cohereChatFormat: ChatFormat<FormatContext, CohereChat> = {
  read: (value, context) => {
    const sent = readCohereChatBody(value);
    const ignored = ignoredFields(sent, context.unknownFields);
    const { model, stream } = sent;
    const { requestId } = context;
    return { model, isStreamed: stream === true, requestId, sent, body: toChatBody(sent), context, ignored };
  },
  call: ({ sent, body, context }) => toCohereCall(sent, body, context),
  answer: (answer) => toCohereChat(answer),
  frames: (answer) => toCohereFrames(answer),
  errorFrame: (failure, { requestId }) => toCohereErrorFrame(failure, requestId),
  waitFrame: waitComment,
  ignored: (_answer, { ignored }) => ignored,
};
