import type { ChatFormat, FormatChat, FormatContext } from "../chat-format.ts";
import { type OllamaOperation, toLine, toLines, toObject } from "./chat-answer.ts";
import { type OllamaCall, readOllamaChat, readOllamaGenerate } from "./chat-body.ts";
import { toOllamaErrorBody } from "./error.ts";

export const NDJSON = "application/x-ndjson";

export interface OllamaContext extends FormatContext {
  /** Returns the catalog's ID for a name that may have a tag. */
  idOf(name: string): string;
  /** Time of the request, of `performance.now()`. */
  beganAt: number;
}

interface OllamaChat extends FormatChat, Pick<OllamaContext, "beganAt">, OllamaCall {}

/** POST /api/chat and /api/generate */
function ollamaFormat(operation: OllamaOperation, readBody: typeof readOllamaChat) {
  return {
    streamType: NDJSON,
    read: (value, context) => {
      const { callerHeaders, unknownFields: policy, idOf, requestId, beganAt } = context;
      return { ...readBody(value, { callerHeaders, policy, idOf }), requestId, beganAt };
    },
    call: ({ call }) => {
      if (call === undefined) throw new Error("The request only loads a model.");
      return call;
    },
    answer: (answer, { model, beganAt }) => toObject(answer, { operation, model, beganAt }),
    frames: (answer, { model, beganAt }) => toLines(answer, { operation, model, beganAt }),
    errorFrame: (failure, { requestId }) => toLine(toOllamaErrorBody(failure, requestId)),
    // Clients parse each line, so that an empty one is an error; spaces before the first line are part of its JSON.
    waitFrame: () => " ",
    ignored: (_answer, { ignored }) => ignored,
  } satisfies ChatFormat<OllamaContext, OllamaChat>;
}

export const ollamaChatFormat = ollamaFormat("chat", readOllamaChat);
export const ollamaGenerateFormat = ollamaFormat("generate", readOllamaGenerate);
