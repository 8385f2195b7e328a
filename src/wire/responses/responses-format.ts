import { newId } from "../../kernel/id.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import { toAnswerParts } from "../answer-parts.ts";
import {
  type ChatFormat,
  type FormatAnswer,
  type FormatChat,
  type FormatContext,
  waitComment,
} from "../chat-format.ts";
import { type OnComplete, toForwardedAnswer, toForwardedFrames } from "../forwarded-answer.ts";
import { toResponseModeration } from "../openai/chat/chat-moderation.ts";
import { toErrorBody } from "../openai/error.ts";
import { toAdoptedFrames } from "./adopted-frames.ts";
import { throwForResponses } from "./error-params.ts";
import type { ResponsePart } from "./item-events.ts";
import {
  type CompleteResponse,
  ResponseEvents,
  toErrorEventFrame,
  toResponse,
  toResponseFrame,
  toResponseFrames,
} from "./response-events.ts";
import { KNOWN_FIELDS, type ResponsesBody, readResponsesBody } from "./responses-body.ts";
import { toResponsesCall } from "./responses-call.ts";
import type { Prompt } from "./responses-input.ts";
import { type HostedToolsPolicy, type ReadTools, readTools } from "./responses-tools.ts";
import { SequenceNumbers } from "./sequence-numbers.ts";
import { withoutOldest } from "./truncate-prompt.ts";
import { ignoredFields } from "./unsupported-fields.ts";

export interface ResponseChat extends FormatChat {
  body: ResponsesBody;
  tools: ReadTools;
  context: FormatContext;
  /** The items that the response continues from, and its input. */
  prompt: Prompt;
  hostedTools: HostedToolsPolicy;
  /** Whether this service stores the response. */
  store: boolean;
  /** Stores the response, and returns whether it did. */
  save(response: CompleteResponse): Promise<boolean>;
  /** The events of a stream that has begun, possibly before its answer. */
  begun?: ResponseEvents;
  /** Undefined until the answer has begun. */
  answer?: FormatAnswer;
  /** Numbers the events of a stream that is passed on. */
  numbers?: SequenceNumbers;
}

const UNREAD: Prompt = { context: [], input: [] };

/** POST /v1/responses. The route resolves `prompt`, which is stored, and sets `hostedTools` and how the response is stored. */
export const responsesFormat: ChatFormat<FormatContext, ResponseChat> = {
  read: (value, context) => {
    const body = readResponsesBody(value);
    const { model, moderation } = body;
    const facts = { model, moderation, isStreamed: body.stream === true, requestId: context.requestId };
    const tools = readTools(body.tools ?? []);
    const unset = { prompt: UNREAD, hostedTools: "refuse", store: false, save: async () => false } as const;
    return { ...facts, body, tools, context, ...unset };
  },
  call: toCall,
  answer: (answer, chat) => {
    chat.answer = answer;
    return toResponse(eventsOf(answer, chat).of(partsOf(answer)));
  },
  frames: (answer, chat) => toResponseFrames(beginStream(answer, chat).of(partsOf(answer))),
  forwarded: {
    answer: (bytes, _answer, chat) =>
      toForwardedAnswer(bytes, (response) => markStored(response as CompleteResponse, chat)),
    frames: (bytes, _answer, chat) => {
      const { begun } = chat;
      const complete: OnComplete = ({ response }) => markStored(response as CompleteResponse, chat);
      if (begun !== undefined) return toAdoptedFrames(bytes, begun, complete);
      const numbers = new SequenceNumbers();
      chat.numbers = numbers;
      return numbers.follow(toForwardedFrames(bytes, complete));
    },
  },
  errorFrame: (failure, { begun, numbers, requestId }) => {
    const error = toErrorBody(failure, requestId);
    if (numbers !== undefined || begun === undefined) return toErrorEventFrame(error, numbers?.next ?? 0);
    return toResponseFrame(begun.failed(error));
  },
  // An upstream with the Responses API sends its own first events.
  waitFrame: (reason, chat) => {
    if (reason !== "answering" || chat.begun !== undefined) return waitComment(reason);
    const identity = { id: newId(""), createdAt: Date.now(), model: chat.model };
    return beginStream(identity, chat).begin().map(toResponseFrame).join("");
  },
  ignored: ({ isUpstream }, { body, tools }) => ignoredFields(body, KNOWN_FIELDS, !isUpstream, tools.served),
  shorten: (chat) => {
    const prompt = chat.body.truncation === "auto" ? withoutOldest(chat.prompt) : undefined;
    return prompt && { ...chat, prompt };
  },
  fail: (failure, { body }) => throwForResponses(failure, body),
};

export function toCall({ body, prompt, tools, hostedTools, store, context }: ResponseChat) {
  const { callerHeaders, unknownFields: policy } = context;
  return toResponsesCall(body, prompt, { tools, callerHeaders, hostedTools, store, policy });
}

/** Options of an answer that this service renders, and of its run in the background. */
export function renderingOf({ body, tools }: Pick<ResponseChat, "body" | "tools">) {
  return { names: tools.names, summarizes: (body.reasoning?.summary ?? body.reasoning?.generate_summary) != null };
}

/** Answer of a chat with tools that this service runs: the parts of all turns, with the items of the tools. */
export interface ResponseParts {
  parts?: AsyncIterable<ResponsePart>;
}

function partsOf(answer: FormatAnswer & ResponseParts): AsyncIterable<ResponsePart> {
  return answer.parts ?? toAnswerParts(answer, true, true);
}

/** Returns the events of a stream, which may have begun before its answer. */
function beginStream(answer: FormatAnswer | AnswerIdentity, chat: ResponseChat): ResponseEvents {
  chat.begun ??= eventsOf(answer, chat);
  if ("events" in answer) chat.answer = answer;
  return chat.begun;
}

function eventsOf(answer: AnswerIdentity, chat: ResponseChat): ResponseEvents {
  return new ResponseEvents({
    body: chat.body,
    answer,
    ...renderingOf(chat),
    moderation: () => chat.answer?.moderation && toResponseModeration(chat.answer.moderation),
    store: chat.store,
    save: chat.save,
  });
}

/** Stores an upstream's response, which says whether this service did. */
async function markStored(response: CompleteResponse, { save }: ResponseChat): Promise<void> {
  response.store = await save(response);
}
