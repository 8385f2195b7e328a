import { type ChatFormat, type FormatChat, type FormatContext, waitComment } from "../chat-format.ts";
import { toCompletion } from "../openai/chat/chat-answer.ts";
import { toErrorFrame, toFrames } from "../openai/chat/chat-stream.ts";
import { throwForCompletions } from "../openai/completions/completions-call.ts";
import { toErrorBody } from "../openai/error.ts";
import { type FimBody, ignoredFimFields, readFimBody, toFimCall } from "./fim-body.ts";

interface FimChat extends FormatChat {
  body: FimBody;
  context: FormatContext;
  ignored: readonly string[];
}

/** POST /v1/fim/completions, which answers as chat completions do. */
export const fimFormat: ChatFormat<FormatContext, FimChat> = {
  read: (value, context) => {
    const body = readFimBody(value);
    const ignored = ignoredFimFields(body, context.unknownFields);
    const { model, stream } = body;
    return { model, isStreamed: stream === true, requestId: context.requestId, body, context, ignored };
  },
  call: ({ body, context }) => toFimCall(body, context),
  answer: (answer) => toCompletion(answer, undefined),
  // Mistral's clients read the usage of every stream, and refuse null.
  frames: (answer) => toFrames(answer, { includeUsage: true, hasNullUsage: false }),
  errorFrame: (failure, { requestId }) => toErrorFrame(toErrorBody(failure, requestId)),
  waitFrame: waitComment,
  ignored: (_answer, { ignored }) => ignored,
  fail: throwForCompletions,
};
