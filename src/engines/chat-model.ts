/** The contract of chat models: typed requests in, typed events out; no wire format. Types without behavior. */

import type { TokenUsage } from "../usage.ts";
import type { CallerHeaders, OpenModel } from "./open-model.ts";

export interface ChatModel extends OpenModel {
  readonly task: "chat";
  /** Tokens that prompt and answer may have together; undefined when an upstream does not say. */
  readonly contextWindow: number | undefined;
  /** Why a local model's window has its size: set by the operator, as trained, or as large as memory allows. */
  readonly contextReason?: "configured" | "trained" | "memory" | undefined;
  /** More messages than this never fit the context window; undefined when it is not known. */
  readonly maxMessages?: number | undefined;
  readonly abilities: ChatAbilities;
  /**
   * Streams the reply and ends with exactly one `finish`. Stops early, without throwing, once `signal` aborts.
   * Throws a Fault: before the first event when the request is refused, later when the engine fails mid-answer.
   */
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
  /**
   * Does what needs no slot, before one is taken, such as compiling schemas. Resolves with the request for `chat`; undefined
   * when there is nothing to do. Throws a Fault when the request is refused.
   */
  prepare?(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> | undefined;
  /** True when a grammar constrains answers and calls to their schemas. */
  readonly usesGrammars?: boolean;
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

export interface ChatMessage<Content = string | readonly ContentPart[]> {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /** "" where an assistant only called tools. Parts only where one of them is an image. */
  content: Content;
  /** What an assistant called, in its order. */
  toolCalls?: readonly ToolCall[];
  /** Which call a tool's message answers. */
  toolCallId?: string;
  /** Name of the participant, shown where the model's template has a place for it. */
  name?: string;
}

/** For models without vision, which the capability check spares every image. */
export type TextMessage = ChatMessage<string>;

export type ContentPart = { type: "text"; text: string } | ImagePart;

export interface ImagePart {
  type: "image";
  /** `https:` or `data:`. */
  url: string;
  /** The caller's own word for how closely to look, such as `low` or `high`. */
  detail?: string | undefined;
  /** Paths in the caller's body, for errors: of what makes the part an image, and of its URL. */
  param: { type: string; url: string };
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
  grammar?: CompiledGrammar;
}

/** `name`: that tool has to be called. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

export type AnswerFormat =
  | { type: "text" }
  /** Any JSON object. */
  | { type: "json" }
  /** `param` is the schema's path in the caller's body, for errors. */
  | { type: "json-schema"; schema: unknown; param: string; grammar?: CompiledGrammar };

/** The grammar of a schema, once it is compiled. */
interface CompiledGrammar {
  ruleName: string;
  /** In llama.cpp's notation, `ruleName` among them. */
  rules: string;
}

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
  /** Most recent tokens of the answer that penalties count; undefined: all. */
  repeatLastN?: number | undefined;
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
  /** Additional variables of the chat template, such as `enable_thinking`. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined;
  callerHeaders?: CallerHeaders;
  /** Projects take turns where work waits outside the slots. */
  project?: string;
  /** The caller's own name for prompts that begin alike. */
  promptCacheKey?: string | undefined;
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** `choice` counts from 0; `completionTokens` counts from the answer's beginning, all choices together. */
export type ChatEvent =
  /** The prompt was accepted and counted. At most once, before any text. */
  | { type: "start"; promptTokens: number; cachedTokens: number }
  /** A piece of the answer, complete characters only. `logprobs` of the tokens that are complete with it. */
  | { type: "text"; choice: number; text: string; completionTokens: number; logprobs?: readonly TokenLogprob[] }
  /** A piece of what the model thinks before it answers. */
  | { type: "reasoning"; choice: number; text: string; completionTokens: number }
  /** A call begins; `index` counts the calls of its choice from 0. */
  | { type: "tool-call"; choice: number; index: number; id: string; name: string; completionTokens: number }
  /** A piece of that call's arguments, which together are one JSON object. */
  | { type: "tool-arguments"; choice: number; index: number; text: string; completionTokens: number }
  /** A choice is over. Once for each choice, before `finish`. */
  | { type: "choice-end"; choice: number; reason: FinishReason }
  /** The end. `usage` is exact unless it says otherwise. */
  | { type: "finish"; usage: TokenUsage };

/** Of the model's own distribution, before temperature and all else that shapes what is drawn. */
export interface TokenLogprob {
  token: string;
  logprob: number;
  /** UTF-8. */
  bytes: readonly number[];
  /** The likeliest tokens, as many as were asked for. */
  top: ReadonlyArray<{ token: string; logprob: number; bytes: readonly number[] }>;
}
