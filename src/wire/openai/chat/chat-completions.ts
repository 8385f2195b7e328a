import {
  type ChatFormat,
  type FormatAnswer,
  type FormatChat,
  type FormatContext,
  waitComment,
} from "../../chat-format.ts";
import type { ResponseParts } from "../../responses/responses-format.ts";
import { toErrorBody } from "../error.ts";
import { type RenderedAnswer, type RenderModeration, toCompletion, toForwardedCompletion } from "./chat-answer.ts";
import { type ChatCompletionBody, readChatBody } from "./chat-body.ts";
import { toChatCall } from "./chat-call.ts";
import { continuationOf, withBeginning } from "./chat-continuation.ts";
import { toChatModeration } from "./chat-moderation.ts";
import { type FrameOptions, newChatChunk, passOn, toErrorFrame, toFrames } from "./chat-stream.ts";
import { ignoredFields } from "./local-unsupported-fields.ts";
import { toSearchedEvents } from "./searched-events.ts";

export interface CompletionChat extends FormatChat {
  body: ChatCompletionBody;
  context: FormatContext;
  /** Whether the body says `store` where nothing is stored. */
  isStoreIgnored?: boolean;
}

/** POST /v1/chat/completions */
export const chatCompletionsFormat: ChatFormat<FormatContext, CompletionChat> = {
  read: (value, context) => {
    const body = readChatBody(value);
    const { model, moderation } = body;
    return { model, moderation, isStreamed: body.stream === true, requestId: context.requestId, body, context };
  },
  call: ({ body, context }) => toChatCall(body, context.callerHeaders, context.unknownFields),
  answer: (answer, chat) => toCompletion(rendered(answer, chat), renderModeration(answer)),
  frames: (answer, chat) => toFrames(rendered(answer, chat), optionsOf(answer, chat)),
  forwarded: {
    answer: (bytes, answer) => toForwardedCompletion(bytes, renderModeration(answer)),
    frames: (bytes, answer, chat) => passOn(bytes, newChatChunk(answer), optionsOf(answer, chat)),
  },
  errorFrame: (failure, { requestId }) => toErrorFrame(toErrorBody(failure, requestId)),
  waitFrame: waitComment,
  ignored: ({ isUpstream }, { body }) => ignoredFields(body, isUpstream),
  removed: ({ isStoreIgnored }) => (isStoreIgnored ? ["store"] : []),
};

/** The answer with the events of all turns, where this service searched, and with the beginning that it repeats. */
function rendered(answer: FormatAnswer & ResponseParts, { body }: CompletionChat): RenderedAnswer {
  const { repeated } = continuationOf(body) ?? {};
  const searched = answer.parts === undefined ? answer : { ...answer, events: toSearchedEvents(answer.parts) };
  return repeated === undefined ? searched : { ...searched, events: withBeginning(repeated, searched.events) };
}

function optionsOf(answer: FormatAnswer, { body }: CompletionChat): FrameOptions {
  return { includeUsage: body.stream_options?.include_usage === true, moderation: renderModeration(answer) };
}

function renderModeration({ moderation }: FormatAnswer): RenderModeration {
  return moderation && (() => toChatModeration(moderation));
}
