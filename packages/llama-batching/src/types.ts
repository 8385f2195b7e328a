/** Requests and events of the batched model: types without behavior. */

export interface PromptMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /** "" where an assistant only called tools. */
  content: string;
  /** Calls an assistant made, in order. */
  toolCalls?: readonly ToolCall[];
  /** ID of the call that a tool message answers. */
  toolCallId?: string;
  /** Name of the participant, shown where the template has a place for it. */
  name?: string | undefined;
  /** True for instructions that tell of the conversation, of which nothing is stored. */
  isSummary?: true | undefined;
}

export interface ToolCall {
  id: string;
  name: string;
  /** A JSON object, as text. */
  arguments: string;
}

export interface Tool {
  name: string;
  description: string | undefined;
  /** JSON Schema of the arguments; undefined: it takes none. */
  parameters: unknown;
  /** Path of `parameters` in the caller's request, for errors. */
  param: string;
  grammar?: CompiledGrammar;
}

/** `name`: that tool must be called. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

export type ResponseFormat =
  | { type: "text" }
  /** Any JSON object. */
  | { type: "json" }
  /** `param` is the schema's path in the caller's request, for errors. */
  | { type: "json-schema"; schema: unknown; param: string; grammar?: CompiledGrammar };

/** Rules of a schema that the caller has compiled already; without them, the schema is compiled here. */
export interface CompiledGrammar {
  ruleName: string;
  /** GBNF, with `ruleName` among the rules. */
  rules: string;
}

export interface SamplingParameters {
  /** 0 to 2; 0 is greedy. */
  temperature: number;
  /** 0 to 1. */
  topP: number;
  /** Samples only from this many of the most likely tokens; undefined: 256. */
  topK: number | undefined;
  /** 0 to 1: excludes tokens less likely than this share of the most likely token's probability. */
  minP: number | undefined;
  /** The same seed, request and model give the same text when run alone. */
  seed: number | undefined;
  /** -2 to 2, subtracted from a token's logit for each of its occurrences in the answer. */
  frequencyPenalty: number;
  /** -2 to 2, subtracted once from the logit of every token that occurs in the answer. */
  presencePenalty: number;
  /** Above 0: divides the positive logits of repeated tokens and multiplies the negative ones; 1 has no effect. */
  repeatPenalty: number;
  /** Most recent tokens of the answer that penalties count; undefined: all. */
  repeatLastN?: number | undefined;
  /** Token ID → -100 to 100, added to its logit. */
  logitBias: Readonly<Record<string, number>>;
}

/** A prompt that bypasses the chat template. */
export interface RawPrompt {
  /** Text in which control tokens count, or token IDs. */
  input: string | readonly number[];
  /** Text after the gap that the model fills in. Only for models that were trained to. */
  suffix?: string | undefined;
  /** Whether an `echo` event precedes each choice. */
  echo?: boolean | undefined;
}

export interface GenerationRequest extends SamplingParameters {
  messages: readonly PromptMessage[];
  /** Replaces `messages`, tools and format. */
  prompt?: RawPrompt;
  /** Beginning of the answer, which the model continues; it is not part of the output. Only without a grammar. */
  prefill?: string | undefined;
  /** Limit of tokens generated for each choice; undefined: what the context window leaves. 0 only with `prompt`. */
  maxTokens: number | undefined;
  /** Tokens before which the model must not end an answer that no grammar constrains. */
  minTokens?: number | undefined;
  /** Texts that end the answer and are not part of it. */
  stop: readonly string[];
  /** Number of answers, each sampled independently; at least 1. */
  choices: number;
  format: ResponseFormat;
  tools: readonly Tool[];
  toolChoice: ToolChoice;
  /** Whether one answer may call more than one tool. */
  parallelToolCalls: boolean;
  /** Undefined: no log probabilities. Otherwise the number of alternatives for each token, 0 to 20. */
  topLogprobs: number | undefined;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, or a level of the model's own. */
  reasoningEffort: string | undefined;
  /** Whether the evaluated system messages and tools may be stored in files. */
  isStorable?: boolean | undefined;
  /** Additional variables of the chat template, such as `enable_thinking`. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined;
}

export type FinishReason = "stop" | "length" | "tool_calls";

export interface GenerationUsage {
  promptTokens: number;
  /** All choices together. */
  completionTokens: number;
  /** Prompt tokens whose evaluation was reused from an earlier request. */
  cachedTokens: number;
  /** Completion tokens spent on reasoning. */
  reasoningTokens: number;
  estimated: false;
}

/** `choice` counts from 0; `completionTokens` counts from the beginning of the request, all choices together. */
export type GenerationEvent =
  /** The prompt was evaluated. Once, before any text. */
  | { type: "start"; promptTokens: number; cachedTokens: number }
  /** The prompt's text, before the choice; only if the request asks for it. */
  | { type: "echo"; choice: number; text: string; logprobs?: readonly EchoedLogprob[] }
  /** A piece of the answer, complete characters only, with the log probabilities of the tokens it completes. */
  | { type: "text"; choice: number; text: string; completionTokens: number; logprobs?: readonly TokenLogprob[] }
  /** A piece of the reasoning that precedes the answer. */
  | { type: "reasoning"; choice: number; text: string; completionTokens: number }
  /** A tool call begins; `index` counts the calls of its choice from 0. */
  | { type: "tool-call"; choice: number; index: number; id: string; name: string; completionTokens: number }
  /** A piece of that call's arguments, which together are one JSON object. */
  | { type: "tool-arguments"; choice: number; index: number; text: string; completionTokens: number }
  /** A choice ended. Once for each choice. `stopText`: the stop sequence that ended it. */
  | { type: "choice-end"; choice: number; reason: FinishReason; stopText?: string }
  /** The last event. */
  | { type: "finish"; usage: GenerationUsage };

/** The first token has no log probability. */
export type EchoedLogprob = Omit<TokenLogprob, "logprob"> & { logprob: number | undefined };

/** Taken from the model's own distribution, before temperature, penalties, biases and grammar. */
export interface TokenLogprob {
  token: string;
  logprob: number;
  /** UTF-8. */
  bytes: readonly number[];
  /** The most likely tokens, as many as the request asked for. */
  top: ReadonlyArray<{ token: string; logprob: number; bytes: readonly number[] }>;
}
