import type { GenerationRequest } from "../src/types.ts";

/** A request that sets nothing but a user message. */
export function makeGenerationRequest(fields: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    messages: [{ role: "user", content: "Say hello." }],
    maxTokens: undefined,
    temperature: 1,
    topP: 1,
    topK: undefined,
    minP: undefined,
    seed: undefined,
    frequencyPenalty: 0,
    presencePenalty: 0,
    repeatPenalty: 1,
    logitBias: {},
    stop: [],
    choices: 1,
    format: { type: "text" },
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    topLogprobs: undefined,
    reasoningEffort: undefined,
    ...fields,
  };
}
