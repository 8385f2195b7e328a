/** The contract of chat models: types without behaviour. */

import type { Fault } from "../faults.ts";
import type { TokenUsage } from "../usage.ts";
import type { CallerHeaders, OpenModel } from "./open-model.ts";
import type { WireCompletion } from "./wire-completion.ts";

export interface ChatModel extends OpenModel {
  readonly task: "chat";
  /** Tokens that prompt and answer may have together; undefined when an upstream does not say. */
  readonly contextWindow: number | undefined;
  readonly abilities: ChatAbilities;
  /** True when `ChatRequest.wire` is passed on as it is, so that `notCarried` does not matter. */
  readonly passesWire: boolean;
  /**
   * Streams the reply and ends with exactly one `finish`. Stops early, without throwing, once `signal` aborts.
   * Throws a Fault: before the first event when the request is refused, later when the engine fails mid-answer.
   */
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
}

/** What a request may ask for beyond plain text; undefined when an upstream does not say. */
export interface ChatAbilities {
  tools: boolean | undefined;
  /** Whether answers in JSON, of any or of a given schema, are certain to be valid. */
  jsonSchema: boolean | undefined;
  logprobs: boolean | undefined;
  /** Whether images may be parts of a message. */
  vision: boolean | undefined;
  /** Whether it thinks before it answers, and `reasoningEffort` therefore says something. */
  reasoning: boolean | undefined;
  /** Most answers to one request. */
  choices: number | undefined;
}

export interface ChatMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /** "" where an assistant only called tools. */
  content: string;
  /** What an assistant called, in its order. */
  toolCalls?: readonly ToolCall[];
  /** Which call a tool's message answers. */
  toolCallId?: string;
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
  /** JSON schema of the arguments; undefined: it takes none. */
  parameters: unknown;
  /** Path of `parameters` in the caller's body, for errors. */
  param: string;
}

/** `name`: that tool has to be called. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

export type AnswerFormat =
  | { type: "text" }
  /** Any JSON object. */
  | { type: "json" }
  /** `param` is the schema's path in the caller's body, for errors. */
  | { type: "json-schema"; schema: unknown; param: string };

interface Sampling {
  /** 0 to 2; 0 is greedy. */
  temperature: number;
  /** 0 to 1. */
  topP: number;
  /** Only so many of the likeliest tokens may be drawn; undefined: the engine's own bound. */
  topK: number | undefined;
  /** 0 to 1: tokens less likely than this share of the likeliest one's probability are not drawn. */
  minP: number | undefined;
  /** The same seed, request and model give the same text when run alone. */
  seed: number | undefined;
  /** -2 to 2, taken from a token's logit for each time that it stands in the answer. */
  frequencyPenalty: number;
  /** -2 to 2, taken once from the logit of a token that stands in the answer. */
  presencePenalty: number;
  /** Above 0: divides the positive logits of tokens seen lately, multiplies the negative ones; 1 does nothing. */
  repeatPenalty: number;
  /** Token id → -100 to 100, added to its logit. */
  logitBias: Readonly<Record<string, number>>;
}

export interface ChatRequest extends Sampling {
  /** The catalog id that was asked for, which an answer names as its `model`. */
  model: string;
  messages: ChatMessage[];
  /** Most tokens to generate for each choice; undefined: what the context window leaves. */
  maxTokens: number | undefined;
  /** Up to four texts that end the answer and are not part of it. */
  stop: readonly string[];
  /** Answers wanted, each drawn for itself; at least 1. */
  choices: number;
  format: AnswerFormat;
  tools: readonly Tool[];
  toolChoice: ToolChoice;
  /** Whether one answer may call more than one tool. */
  parallelToolCalls: boolean;
  /** Undefined: no log probabilities. Else how many alternatives of each token, 0 to 20. */
  topLogprobs: number | undefined;
  /** The caller's own word for how long to think, such as `none`, `low` or `high`. */
  reasoningEffort: string | undefined;
  /** Whether the caller wants the answer as a stream. */
  stream: boolean;
  callerHeaders?: CallerHeaders;
  /** The caller's own name for prompts that begin alike. */
  promptCacheKey?: string | undefined;
  /** The caller's own body in OpenAI's format, for engines that pass it on. */
  wire: Readonly<Record<string, unknown>>;
  /** Says what in `wire` the fields above do not carry; thrown for models that do not pass the wire body on. */
  notCarried(): Fault | undefined;
  /** Says which part is an image; thrown for models that take none. */
  imagesNotTaken(): Fault | undefined;
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** `choice` counts from 0; `completionTokens` counts from the answer's beginning, all choices together. */
export type ChatEvent =
  /** The prompt was accepted and counted. At most once, before any text. */
  | { type: "start"; promptTokens: number; cachedTokens: number }
  /** A piece of the answer, whole characters only. `logprobs` of the tokens that are complete with it. */
  | { type: "text"; choice: number; text: string; completionTokens: number; logprobs?: readonly TokenLogprob[] }
  /** A piece of what the model thinks before it answers. */
  | { type: "reasoning"; choice: number; text: string; completionTokens: number }
  /** A call begins; `index` counts the calls of its choice from 0. */
  | { type: "tool-call"; choice: number; index: number; id: string; name: string; completionTokens: number }
  /** A piece of that call's arguments, which together are one JSON object. */
  | { type: "tool-arguments"; choice: number; index: number; text: string; completionTokens: number }
  /** A choice is over. Once for each choice, before `finish`; not with answers in OpenAI's format. */
  | { type: "choice-end"; choice: number; reason: FinishReason }
  /**
   * Whole SSE frames of a streamed answer in OpenAI's format, `model` already replaced, without usage-only chunks and
   * `[DONE]`. `completionTokens` estimates, one a frame, what came since the answer's beginning: for clients that leave.
   */
  | { type: "wire-frames"; frames: Uint8Array; completionTokens: number }
  /**
   * The end. `usage` is exact unless it says otherwise. `usageFrame` follows `wire-frames` only: the SSE frame that tells
   * callers who asked what was used, with the answer's own id and all the details that an upstream gave. `completion` is
   * the whole answer where it was not streamed, `model` already replaced, which no other event comes before.
   */
  | { type: "finish"; usage: TokenUsage; usageFrame?: Uint8Array | undefined; completion?: WireCompletion };

/** Of the model's own distribution, before temperature and all else that shapes what is drawn. */
export interface TokenLogprob {
  token: string;
  logprob: number;
  /** UTF-8. */
  bytes: readonly number[];
  /** The likeliest tokens, as many as were asked for. */
  top: ReadonlyArray<{ token: string; logprob: number; bytes: readonly number[] }>;
}
