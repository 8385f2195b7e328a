import { type ChatDialect, NATIVE_ABILITIES } from "../native-upstream/chat-dialect.ts";
import { readGoogleError } from "./gemini-error.ts";
import { GenerateEvents } from "./generate-events.ts";
import { toGenerateBody } from "./generate-request.ts";
import type { GeminiSettings } from "./settings.ts";

/** Maximum of `candidateCount`. */
const MAX_CANDIDATES = 8;

export function geminiDialect(settings: GeminiSettings): ChatDialect {
  return {
    provider: "Gemini",
    abilities: { ...NATIVE_ABILITIES, logprobs: true, choices: MAX_CANDIDATES },
    fields: new Set([
      "temperature",
      "topP",
      "topK",
      "seed",
      "stop",
      "frequencyPenalty",
      "presencePenalty",
      "topLogprobs",
      "choices",
      "reasoningEffort",
      "format",
    ]),
    toCall: (request, model) => ({
      path: `models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
      body: toGenerateBody(request, model, settings),
    }),
    newSink: (request) => new GenerateEvents(request),
    readError: readGoogleError,
  };
}
