import { type ChatDialect, NATIVE_ABILITIES } from "../native-upstream/chat-dialect.ts";
import { readCohereError } from "./cohere-error.ts";
import { CohereEvents } from "./cohere-events.ts";
import { toCohereBody } from "./cohere-request.ts";
import type { CohereSettings } from "./settings.ts";

export function cohereDialect(settings: CohereSettings): ChatDialect {
  return {
    provider: "Cohere",
    abilities: { ...NATIVE_ABILITIES, files: false },
    fields: new Set([
      "temperature",
      "topP",
      "topK",
      "seed",
      "stop",
      "frequencyPenalty",
      "presencePenalty",
      "reasoningEffort",
      "format",
    ]),
    toCall: (request, model) => ({ path: "chat", body: toCohereBody(request, model, settings) }),
    newSink: (request) => new CohereEvents(request),
    readError: readCohereError,
  };
}
