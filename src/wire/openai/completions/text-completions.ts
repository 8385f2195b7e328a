import { type ChatFormat, type FormatChat, type FormatContext, waitComment } from "../../chat-format.ts";
import { toForwardedCompletion } from "../chat/chat-answer.ts";
import { passOn, toErrorFrame } from "../chat/chat-stream.ts";
import { toErrorBody } from "../error.ts";
import { includesUsage, newTextChunk, toTextCompletion, toTextCompletionFrames } from "./completions-answer.ts";
import { type CompletionBody, readCompletionBody } from "./completions-body.ts";
import { ignoredCompletionFields, throwForCompletions, toCompletionCall } from "./completions-call.ts";

interface TextCompletionChat extends FormatChat {
  body: CompletionBody;
  context: FormatContext;
}

/** POST /v1/completions */
export const textCompletionsFormat: ChatFormat<FormatContext, TextCompletionChat> = {
  read: (value, context) => {
    const body = readCompletionBody(value);
    return { model: body.model, isStreamed: body.stream === true, requestId: context.requestId, body, context };
  },
  call: ({ body, context }) => toCompletionCall(body, context.callerHeaders, context.unknownFields),
  answer: (answer, { body }) => toTextCompletion(answer, body),
  frames: (answer, { body }) => toTextCompletionFrames(answer, body),
  forwarded: {
    answer: (bytes) => toForwardedCompletion(bytes, undefined),
    frames: (bytes, answer, { body }) => passOn(bytes, newTextChunk(answer), { includeUsage: includesUsage(body) }),
  },
  errorFrame: (failure, { requestId }) => toErrorFrame(toErrorBody(failure, requestId)),
  waitFrame: waitComment,
  ignored: (_answer, { body }) => ignoredCompletionFields(body),
  fail: throwForCompletions,
};
