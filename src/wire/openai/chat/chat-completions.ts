import { type ChatFormat, type FormatChat, type FormatContext, waitComment } from "../../chat-format.ts";
import { toErrorBody } from "../error.ts";
import { toCompletion } from "./chat-answer.ts";
import { type ChatCompletionBody, readChatBody } from "./chat-body.ts";
import { toChatCall } from "./chat-call.ts";
import { type ModerationResults, toChatModeration } from "./chat-moderation.ts";
import { toErrorFrame, toFrames } from "./chat-stream.ts";
import { ignoredFields } from "./local-unsupported-fields.ts";

interface CompletionChat extends FormatChat {
  body: ChatCompletionBody;
  context: FormatContext;
}

/** POST /v1/chat/completions */
export const chatCompletionsFormat: ChatFormat<FormatContext, CompletionChat> = {
  read: (value, context) => {
    const body = readChatBody(value);
    const { model, moderation } = body;
    return { model, moderation, isStreamed: body.stream === true, requestId: context.requestId, body, context };
  },
  call: ({ body, context }) => toChatCall(body, context.callerHeaders, context.unknownFields),
  answer: (answer) => toCompletion(answer, { model: answer.model, moderation: render(answer.moderation) }),
  frames: (answer, { body }) => {
    const includeUsage = body.stream_options?.include_usage === true;
    return toFrames(answer, { model: answer.model, includeUsage, moderation: render(answer.moderation) });
  },
  errorFrame: (failure, { requestId }) => toErrorFrame(toErrorBody(failure, requestId)),
  waitFrame: waitComment,
  // An upstream received every field.
  ignored: ({ form }, { body }) => (form === "typed" ? ignoredFields(body) : []),
};

function render(results: ModerationResults | undefined): (() => Record<string, unknown>) | undefined {
  return results && (() => toChatModeration(results));
}
