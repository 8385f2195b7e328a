import type { ChatDefaults, ChatRequest } from "./chat-model.ts";

/** Defaults of every field of a chat request. */
export const DEFAULT_CHAT_REQUEST: Omit<ChatRequest, "model" | "messages"> = {
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
};

/** Defaults with those of a model in their place. */
export function defaultChatRequest(defaults: ChatDefaults): typeof DEFAULT_CHAT_REQUEST {
  const set = Object.entries(defaults).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_CHAT_REQUEST, ...Object.fromEntries(set) };
}
