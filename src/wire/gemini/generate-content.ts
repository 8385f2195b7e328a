import { type ChatFormat, type FormatChat, type FormatContext, waitComment } from "../chat-format.ts";
import type { ChatCompletionBody } from "../openai/chat/chat-body.ts";
import { toGeminiErrorBody } from "./error.ts";
import { toGenerateAnswer, toPieces } from "./generate-answer.ts";
import { checkModel, type GenerateContentBody } from "./generate-body.ts";
import { ignoredFields, toChatBody, toGenerateCall } from "./generate-call.ts";

export interface GeminiContext extends FormatContext {
  /** As the path names it. */
  model: string;
  isStreamed: boolean;
}

export interface GeminiChat extends FormatChat {
  generate: GenerateContentBody;
  /** The prompt. */
  body: ChatCompletionBody;
  context: GeminiContext;
  /** Frames of a stream that is one JSON array. */
  elementCount: number;
}

const common = {
  // `readGenerateBody` has read the value: a large one takes two turns of the event loop.
  read: (value, context) => {
    const { model, isStreamed, requestId } = context;
    const generate = value as GenerateContentBody;
    checkModel(generate.model, model);
    return { model, isStreamed, requestId, generate, body: toChatBody(model, generate), context, elementCount: 0 };
  },
  call: ({ generate, body, context }) => {
    ignoredFields(generate, context.unknownFields, true);
    return toGenerateCall(generate, body, context);
  },
  answer: (answer, chat) => toGenerateAnswer(answer, optionsOf(chat)),
  ignored: ({ isUpstream }, { generate }) => ignoredFields(generate, "ignore", isUpstream),
} satisfies Partial<ChatFormat<GeminiContext, GeminiChat>>;

/** POST models/{model}:generateContent, and :streamGenerateContent with `alt=sse`. */
export const generateContentFormat: ChatFormat<GeminiContext, GeminiChat> = {
  ...common,
  frames: async function* (answer, chat) {
    for await (const piece of toPieces(answer, optionsOf(chat))) yield toFrame(piece);
  },
  errorFrame: (failure, { requestId }) => toFrame(toGeminiErrorBody(failure, requestId)),
  waitFrame: waitComment,
};

/** POST models/{model}:streamGenerateContent: the stream is a JSON array. */
export const contentArrayFormat: ChatFormat<GeminiContext, GeminiChat> = {
  ...common,
  streamType: "application/json; charset=utf-8",
  frames: async function* (answer, chat) {
    for await (const piece of toPieces(answer, optionsOf(chat))) yield toElement(piece, chat);
    yield chat.elementCount === 0 ? "[]" : "]";
  },
  errorFrame: (failure, chat) => `${toElement(toGeminiErrorBody(failure, chat.requestId), chat)}]`,
  waitFrame: () => " ",
};

function optionsOf({ generate: { generationConfig } }: GeminiChat) {
  return { showsThoughts: generationConfig?.thinkingConfig?.includeThoughts === true };
}

function toFrame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function toElement(data: object, chat: GeminiChat): string {
  chat.elementCount += 1;
  return `${chat.elementCount === 1 ? "[" : ",\n"}${JSON.stringify(data)}`;
}
