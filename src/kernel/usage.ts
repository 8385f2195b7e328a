/** What a request used: one type from the engine that counts it to the bill. */

/** The tasks, as usage records and prices name them. */
export type Operation = "chat" | "embedding" | "moderation" | "speech" | "transcription";

/** Tokens that a model read and wrote for one request. */
export interface TokenUsage {
  promptTokens: number;
  /** Prompt tokens read from the prompt cache. */
  cachedTokens: number;
  /** Completion tokens of all choices. */
  completionTokens: number;
  /** Completion tokens spent on reasoning; 0 where an upstream does not report it. */
  reasoningTokens: number;
  /** False: the tokenizer's own count. True: the upstream reported none, so this is an estimate. */
  estimated: boolean;
}

/** What a request of any task used; what does not apply to its task is 0. */
export interface Usage extends TokenUsage {
  /** Length of moderated or spoken text, in UTF-16 units. */
  characters: number;
  audioSeconds: number;
}

/** Usage as it is stored and reported: in integers, with its cost. */
export interface RecordedUsage extends Omit<Usage, "estimated" | "audioSeconds"> {
  audioMilliseconds: number;
  /** Null: no price was known. */
  costNanoDollars: number | null;
}

/** Returns the usage of two runs together. */
export function addTokens(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    estimated: one.estimated || other.estimated,
  };
}

export const NO_USAGE: Readonly<Usage> = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  characters: 0,
  audioSeconds: 0,
};
