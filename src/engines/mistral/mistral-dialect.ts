import { type ChatDialect, NATIVE_ABILITIES } from "../native-upstream/chat-dialect.ts";
import { MistralEvents } from "./mistral-events.ts";
import { toFimBody, toMistralBody } from "./mistral-request.ts";
import type { MistralSettings } from "./settings.ts";

export function mistralDialect(settings: MistralSettings): ChatDialect {
  return {
    provider: "Mistral",
    // Models for code fill in the middle.
    abilities: {
      ...NATIVE_ABILITIES,
      continuation: true,
      choices: undefined,
      completions: undefined,
      infill: undefined,
    },
    fields: new Set([
      "temperature",
      "topP",
      "seed",
      "stop",
      "frequencyPenalty",
      "presencePenalty",
      "choices",
      "reasoningEffort",
      "format",
    ]),
    promptFields: new Set(["temperature", "topP", "seed", "stop", "minTokens"]),
    toCall: (request, model) =>
      request.prompt === undefined
        ? { path: "chat/completions", body: toMistralBody(request, model, settings) }
        : { path: "fim/completions", body: toFimBody(request, request.prompt, model) },
    newSink: (request) => new MistralEvents(request),
  };
}
