import { type ChatDialect, NATIVE_ABILITIES } from "../native-upstream/chat-dialect.ts";
import { MistralEvents } from "./mistral-events.ts";
import { toMistralBody } from "./mistral-request.ts";
import type { MistralSettings } from "./settings.ts";

export function mistralDialect(settings: MistralSettings): ChatDialect {
  return {
    provider: "Mistral",
    abilities: { ...NATIVE_ABILITIES, choices: undefined },
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
    toCall: (request, model) => ({ path: "chat/completions", body: toMistralBody(request, model, settings) }),
    newSink: (request) => new MistralEvents(request),
  };
}
