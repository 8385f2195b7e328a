import type { ChatDialect } from "../native-upstream/chat-dialect.ts";
import { readGoogleError } from "./gemini-error.ts";
import { GenerateEvents } from "./generate-events.ts";
import { toGenerateBody } from "./generate-request.ts";
import type { GeminiSettings } from "./settings.ts";

/** Maximum of `candidateCount`. */
const MAX_CANDIDATES = 8;

export function geminiDialect(settings: GeminiSettings): ChatDialect {
  return {
    provider: "Gemini",
    abilities: {
      tools: true,
      jsonSchema: true,
      logprobs: true,
      vision: true,
      files: true,
      reasoning: true,
      choices: MAX_CANDIDATES,
      completions: false,
      infill: false,
    },
    fields: {
      temperature: true,
      topP: true,
      topK: true,
      minP: false,
      seed: true,
      stop: true,
      frequencyPenalty: true,
      presencePenalty: true,
      repeatPenalty: false,
      repeatLastN: false,
      minTokens: false,
      logitBias: false,
      topLogprobs: true,
      choices: true,
      verbosity: false,
      templateVariables: false,
      reasoningEffort: true,
      format: true,
    },
    toCall: (request, model) => ({
      path: `models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
      body: toGenerateBody(request, model, settings),
    }),
    newSink: (request) => new GenerateEvents(request),
    readError: readGoogleError,
  };
}
