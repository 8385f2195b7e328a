/** What one choice is generated from. */

import type { LlamaModel, Token } from "node-llama-cpp";
import type { DecodingPlan } from "../decoding-plan.ts";
import type { Echo } from "../output/echo.ts";
import type { LogprobReader } from "../sampling/logprob-reader.ts";
import type { SamplerOptions } from "../sampling/sampler.ts";
import type { SamplerMemory } from "../sampling/sampler-memory.ts";
import type { GenerationEvent } from "../types.ts";
import type { NativeDecoder, Padding } from "./native-decoder.ts";
import type { RepeatableEvaluation } from "./repeatable-evaluation.ts";
import type { AcquiredSequence } from "./sequence-pool.ts";

export interface ChoiceOptions {
  choice: number;
  model: LlamaModel;
  decoder: NativeDecoder;
  acquired: AcquiredSequence;
  prompt: readonly Token[];
  plan: DecodingPlan;
  sampling: SamplerOptions;
  stop: readonly string[];
  samplerMemory: SamplerMemory;
  /** Number of tokens before which the answer must not end, unless a grammar ends it. */
  minTokens: number;
  /** The model's end-of-generation tokens. */
  endTokens: readonly Token[];
  /** Limit of generated tokens. */
  maxTokens: number;
  /** Tokens of prompt and answer together. */
  contextWindow: number;
  /** The prompt's text to emit before the first choice, with log probabilities if `logprobs` is given. */
  echo: Echo | undefined;
  /** A beginning of the prompt to stop at, because its state is kept; undefined: none. */
  beginning: StoredBeginning | undefined;
  /** Undefined: the request asked for none. Disposed by the generation. */
  logprobs: LogprobReader | undefined;
  /** Undefined: the text may depend on what is evaluated at the same time. */
  repeatable: RepeatableEvaluation | undefined;
  /** Shared by all choices. */
  tokenCounts: TokenCounts;
  emit: (event: GenerationEvent) => void;
}

export interface StoredBeginning {
  tokens: number;
  /** Called after the batch in which the last of them was evaluated. */
  onEvaluated: () => void;
}

export interface TokenCounts {
  completionTokens: number;
  reasoningTokens: number;
}

export interface BatchShare {
  /** Prompt tokens to evaluate in this batch; 0 once the prompt is evaluated. */
  promptTokens: number;
  /** Whether the batch holds nothing else. */
  isAlone: boolean;
  padding: Padding;
}
