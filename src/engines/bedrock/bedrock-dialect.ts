import type { ChatDialect } from "../native-upstream/chat-dialect.ts";
import { readBedrockError } from "./bedrock-error.ts";
import { ConverseEvents } from "./converse-events.ts";
import { toConverseBody } from "./converse-request.ts";
import type { BedrockSettings } from "./settings.ts";

export function bedrockDialect(settings: BedrockSettings): ChatDialect {
  return {
    provider: "Bedrock",
    abilities: {
      tools: true,
      jsonSchema: true,
      logprobs: false,
      vision: true,
      files: true,
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
      seed: false,
      stop: true,
      frequencyPenalty: false,
      presencePenalty: false,
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
    toCall: (request, model) => ({
      path: `model/${encodeURIComponent(model)}/converse-stream`,
      body: toConverseBody(request, model, settings),
      headers: { accept: "application/vnd.amazon.eventstream" },
    }),
    newSink: (request) => new ConverseEvents(request),
    readError: readBedrockError,
  };
}
