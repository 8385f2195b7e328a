import type { ChatDialect } from "../native-upstream/chat-dialect.ts";
import { readCohereError } from "./cohere-error.ts";
import { CohereEvents } from "./cohere-events.ts";
import { toCohereBody } from "./cohere-request.ts";
import type { CohereSettings } from "./settings.ts";

export function cohereDialect(settings: CohereSettings): ChatDialect {
  return {
    provider: "Cohere",
    abilities: {
      tools: true,
      jsonSchema: true,
      logprobs: false,
      vision: true,
      files: false,
      reasoning: true,
      choices: 1,
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
      topLogprobs: false,
      choices: false,
      verbosity: false,
      templateVariables: false,
      reasoningEffort: true,
      format: true,
    },
    toCall: (request, model) => ({ path: "chat", body: toCohereBody(request, model, settings) }),
    newSink: (request) => new CohereEvents(request),
    readError: readCohereError,
  };
}
