import type { ChatDialect } from "../native-upstream/chat-dialect.ts";
import { MistralEvents } from "./mistral-events.ts";
import { toMistralBody } from "./mistral-request.ts";
import type { MistralSettings } from "./settings.ts";

export function mistralDialect(settings: MistralSettings): ChatDialect {
  return {
    provider: "Mistral",
    abilities: {
      tools: true,
      jsonSchema: true,
      logprobs: false,
      vision: true,
      files: true,
      reasoning: true,
      choices: undefined,
      completions: false,
      infill: false,
    },
    fields: {
      temperature: true,
      topP: true,
      topK: false,
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
      choices: true,
      verbosity: false,
      templateVariables: false,
      reasoningEffort: true,
      format: true,
    },
    toCall: (request, model) => ({ path: "chat/completions", body: toMistralBody(request, model, settings) }),
    newSink: (request) => new MistralEvents(request),
  };
}
