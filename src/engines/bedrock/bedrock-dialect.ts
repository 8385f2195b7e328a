import { type ChatDialect, NATIVE_ABILITIES } from "../native-upstream/chat-dialect.ts";
import { readBedrockError } from "./bedrock-error.ts";
import { ConverseEvents } from "./converse-events.ts";
import { toConverseBody } from "./converse-request.ts";
import type { BedrockSettings } from "./settings.ts";

export function bedrockDialect(settings: BedrockSettings): ChatDialect {
  return {
    provider: "Bedrock",
    abilities: NATIVE_ABILITIES,
    fields: new Set(["temperature", "topP", "topK", "stop", "reasoningEffort", "format"]),
    toCall: (request, model) => ({
      path: `model/${encodeURIComponent(model)}/converse-stream`,
      body: toConverseBody(request, model, settings),
      headers: { accept: "application/vnd.amazon.eventstream" },
    }),
    newSink: (request) => new ConverseEvents(request),
    readError: readBedrockError,
  };
}
