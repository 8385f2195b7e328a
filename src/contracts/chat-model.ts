/** The contract of chat models: typed requests in, typed events out, independent of wire formats. Types only. */

import type { Fault } from "../kernel/faults.ts";
import type { TokenUsage } from "../kernel/usage.ts";
import type { CacheMark, ChatMessage, ReasoningBlock } from "./chat-message.ts";
import type { CallerHeaders, OpenModel } from "./open-model.ts";

export interface ChatModel extends OpenModel {
  readonly task: "chat";
  /** Maximum tokens of prompt and answer together; undefined when an upstream does not report it. */
  readonly contextWindow: number | undefined;
  /** What determined a local model's context window: the operator, its training, or the available memory. */
  readonly contextReason?: "configured" | "trained" | "memory" | undefined;
  /** More messages than this never fit the context window; undefined when it is not known. */
  readonly maxMessages?: number | undefined;
  /** Sampling that the model's file recommends, for fields that neither the request nor the catalog sets. */
  readonly samplingDefaults?: ChatDefaults | undefined;
  readonly abilities: ChatAbilities;
  /**
   * Streams the reply and ends with exactly one `finish`. Stops early, without throwing, once `signal` aborts.
   * Throws a Fault: before the first event when the request is refused, later when the engine fails mid-answer.
   */
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
  /** Returns the Fault for what the model cannot honor, beyond its abilities; left out: nothing. */
  refusal?(request: ChatRequest): Fault | undefined;
  /**
   * Does work that needs no slot, such as compiling schemas. Resolves with the request for `chat`; undefined
   * without such work. Throws a Fault when the request is refused.
   */
  prepare?(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> | undefined;
  /** Counts the tokens of the prompt as `chat` would. Throws a Fault when the request is refused. */
  countTokens?(request: ChatRequest, signal: AbortSignal): Promise<number>;
  /** True for a model in another process that has `countTokens`. */
  readonly countsTokens?: boolean;
  /** True when a grammar constrains answers and calls to their schemas. */
  readonly usesGrammars?: boolean;
}

/** Optional features that a request may use; undefined when an upstream does not report them. */
export interface ChatAbilities {
  tools: boolean | undefined;
  /** True if answers in JSON, with or without a schema, are guaranteed to be valid. */
  jsonSchema: boolean | undefined;
  logprobs: boolean | undefined;
  /** True if messages may contain images. */
  vision: boolean | undefined;
  /** True if messages may contain files, such as PDF. */
  files?: boolean | undefined;
  /** True if the model reasons before it answers, so `reasoningEffort` has an effect. */
  reasoning: boolean | undefined;
  /** True if the model continues a last message of the assistant. */
  continuation?: boolean | undefined;
  /** Maximum choices of one request. */
  choices: number | undefined;
  /** True if the model continues a `RawPrompt`. */
  completions: boolean | undefined;
  /** True if the model was trained to fill in the middle, so a `RawPrompt` may have a suffix. */
  infill: boolean | undefined;
}

/** A prompt that bypasses the chat template. */
export interface RawPrompt {
  /** Text in which control tokens count, or the model's token IDs. */
  input: string | readonly number[];
  /** Text after the gap that the model fills in. */
  suffix?: string | undefined;
  /** True if an `echo` event precedes each choice. */
  echo?: boolean | undefined;
}

export interface Tool {
  name: string;
  description: string | undefined;
  /** JSON schema of the arguments; undefined: the tool takes no arguments. */
  parameters: unknown;
  /** True: the caller wants arguments that always match the schema, which upstreams may enforce. */
  isStrict?: boolean | undefined;
  /** Path of `parameters` in the caller's body, for errors. */
  param: string;
  grammar?: CompiledGrammar;
  cache?: CacheMark | undefined;
}

/** `name`: the model must call that tool. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

export type AnswerFormat =
  | { type: "text" }
  /** Any JSON object. */
  | { type: "json" }
  /** `param` is the schema's path in the caller's body, for errors. */
  | { type: "json-schema"; schema: unknown; param: string; grammar?: CompiledGrammar };

/** Compiled grammar of a schema. */
export interface CompiledGrammar {
  ruleName: string;
  /** Rules in llama.cpp's GBNF notation, including `ruleName`. */
  rules: string;
  /** Paths of keywords that the rules do not enforce, so that values have to be validated. */
  unenforced: readonly string[];
}

interface Sampling {
  /** 0 to 2; 0 is greedy. */
  temperature: number;
  /** 0 to 1. */
  topP: number;
  /** Samples only among this many most likely tokens; undefined: the engine's default. */
  topK: number | undefined;
  /** 0 to 1: excludes tokens less likely than this fraction of the most likely token's probability. */
  minP: number | undefined;
  /** The same seed, request and model give the same text when the request runs alone. */
  seed: number | undefined;
  /** -2 to 2, subtracted from a token's logit for each of its occurrences in the answer. */
  frequencyPenalty: number;
  /** -2 to 2, subtracted once from the logit of a token that occurs in the answer. */
  presencePenalty: number;
  /** Above 0: divides the positive logits of recent tokens and multiplies the negative ones; 1 has no effect. */
  repeatPenalty: number;
  /** Most recent tokens of the answer that penalties count; undefined: all. */
  repeatLastN?: number | undefined;
  /** Token ID → -100 to 100, added to its logit. */
  logitBias: Readonly<Record<string, number>>;
}

export interface ChatRequest extends Sampling {
  /** The requested catalog ID, which the answer names as its `model`. */
  model: string;
  messages: ChatMessage[];
  /** Replaces `messages`, which are then empty. */
  prompt?: RawPrompt;
  /**
   * Whether the last message, one of the assistant with a text, begins the answer, which continues it and does not repeat
   * it. `preferred`: a model without the ability answers it instead.
   */
  continuation?: "required" | "preferred" | undefined;
  /** Whether the caller's answer begins with that message again, which the events leave out. */
  repeatsBeginning?: boolean | undefined;
  /**
   * Maximum tokens to generate for each choice; undefined: what the context window leaves. 0 only with a `RawPrompt`.
   */
  maxTokens: number | undefined;
  /** Tokens before which a local model must not end an answer that no schema constrains. */
  minTokens?: number | undefined;
  /** Up to four stop sequences, which the answer does not include. */
  stop: readonly string[];
  /** Number of choices, each sampled independently; at least 1. */
  choices: number;
  format: AnswerFormat;
  tools: readonly Tool[];
  toolChoice: ToolChoice;
  /** True if one answer may contain several tool calls. */
  parallelToolCalls: boolean;
  /** Number of alternatives of each token, 0 to 20; undefined: no log probabilities. */
  topLogprobs: number | undefined;
  /** Reasoning effort as the caller wrote it, such as `none`, `low` or `high`. */
  reasoningEffort: string | undefined;
  /** Reasoning as Anthropic's Messages API asks for it. */
  thinking?: Thinking | undefined;
  /** Mark at the end of the prompt. */
  cache?: CacheMark | undefined;
  /** Length of the answer as the caller wrote it, such as `low`. Only upstreams read it. */
  verbosity?: string | undefined;
  /** Additional variables of the chat template, such as `enable_thinking`. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined;
  callerHeaders?: CallerHeaders;
  /** Queues outside the slots alternate between projects. */
  project?: string;
  /** True if nothing of it may be written to a disk. */
  storesNothing?: true | undefined;
  /** The caller's identifier for prompts with the same prefix. */
  promptCacheKey?: string | undefined;
  /** Undefined: none of them. */
  upstreamFields?: UpstreamFields | undefined;
}

/** What only upstreams read: who asks, how long they cache the prompt, and the tier of the request. */
export interface UpstreamFields {
  user?: string;
  safetyIdentifier?: string;
  promptCacheRetention?: string;
  promptCacheOptions?: Readonly<Record<string, unknown>>;
  serviceTier?: string;
}

interface Thinking {
  isEnabled: boolean;
  /** Maximum tokens; undefined: the model decides. */
  budgetTokens?: number | undefined;
  /** As the caller wrote it, such as `high`. */
  effort?: string | undefined;
}

/** Values of fields that a request to the model leaves out. */
export type ChatDefaults = Readonly<
  Partial<
    Pick<
      ChatRequest,
      | "temperature"
      | "topP"
      | "topK"
      | "minP"
      | "frequencyPenalty"
      | "presencePenalty"
      | "repeatPenalty"
      | "maxTokens"
      | "reasoningEffort"
    >
  >
>;

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** `choice` counts from 0; `completionTokens` counts from the start of the answer, over all choices. */
export type ChatEvent =
  /** The prompt was accepted and counted. At most once, before any text. */
  | { type: "start"; promptTokens: number; cachedTokens: number }
  /** The prompt's text, before the choice; only if the request asks for it. The first token has no log probability. */
  | { type: "echo"; choice: number; text: string; logprobs?: readonly EchoedLogprob[] }
  /** A piece of the answer, complete characters only. `logprobs` covers the tokens that it completes. */
  | {
      type: "text";
      choice: number;
      text: string;
      completionTokens: number;
      logprobs?: readonly TokenLogprob[];
      /** True for text in which an upstream's model declines to answer. */
      isRefusal?: true;
    }
  /** A piece of the reasoning before the answer. One without text ends a block, with what its provider recognizes. */
  | ({ type: "reasoning"; choice: number; completionTokens: number } & ReasoningBlock)
  /** Start of a tool call; `index` counts the calls of its choice from 0. */
  | {
      type: "tool-call";
      choice: number;
      index: number;
      id: string;
      name: string;
      completionTokens: number;
      signature?: string | undefined;
    }
  /** A piece of the call's arguments; joined, the pieces are one JSON object. */
  | { type: "tool-arguments"; choice: number; index: number; text: string; completionTokens: number }
  /** End of a choice. Once for each choice, before `finish`. `stopText`: the stop text that ended it, where known. */
  | { type: "choice-end"; choice: number; reason: FinishReason; stopText?: string }
  /** End of the answer. `usage` is exact unless marked `estimated`. */
  | { type: "finish"; usage: TokenUsage };

export type EchoedLogprob = Omit<TokenLogprob, "logprob"> & { logprob: number | undefined };

/** Log probability in the model's distribution, before temperature and other sampling parameters. */
export interface TokenLogprob {
  token: string;
  logprob: number;
  /** UTF-8. */
  bytes: readonly number[];
  /** The requested number of most likely tokens. */
  top: ReadonlyArray<{ token: string; logprob: number; bytes: readonly number[] }>;
}
