/**
 * Private parts of node-llama-cpp: batches, several samplers on the same logits, copies of sequence states, grammar
 * queries. The version is pinned, and what is used is checked.
 */

import type { LlamaContext, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";

export interface NativeSampler {
  applyConfig(config: object): void;
  dispose(): void;
}

export interface Bindings {
  AddonSampler: {
    new (model: unknown): NativeSampler;
    acceptGrammarEvaluationStateToken(state: unknown, token: Token): void;
    canBeNextTokenForGrammarEvaluationState(state: unknown, token: Token): boolean;
  };
}

type FlatPairs = readonly number[];
type SampledLogits = readonly [
  token: Token,
  probabilities: unknown,
  confidence: unknown,
  logits: FlatPairs,
  weight: number,
];

export interface NativeContext {
  setThreads(threads: number): void;
  initBatch(tokens: number): void;
  /** Returns the indexes in the batch of the tokens at the offsets in `logits`. */
  addToBatch(sequenceId: number, position: number, tokens: Uint32Array, logits: Uint32Array): Uint32Array;
  decodeBatch(): Promise<void>;
  sampleToken(index: number, sampler: NativeSampler): Promise<Token>;
  sampleToken(
    index: number,
    sampler: NativeSampler,
    probabilities: boolean,
    confidence: boolean,
    logits: readonly [tokens: readonly Token[], highest: boolean, lowest: boolean, selected: boolean, top: number],
    weight: boolean,
  ): Promise<SampledLogits>;
}

export interface NativeSequence {
  readonly _sequenceId: number;
  /** Number of evaluated tokens. */
  _nextTokenIndex: number;
  readonly _contextTokens: Token[];
  _copyStateFromOtherSequence(other: LlamaContextSequence, tokens: number): Promise<boolean>;
}

const UNSUPPORTED = "This version of node-llama-cpp is not supported: install the version that package.json pins";

/** The private parts of a loaded model. */
interface NativeParts {
  context: NativeContext;
  bindings: Bindings;
  model: unknown;
}

/** Throws when the installed binding lacks one of the private parts. */
export function nativeParts(model: LlamaModel, context: LlamaContext): NativeParts {
  const native = (context as unknown as { _ctx: NativeContext })._ctx;
  const bindings = (model.llama as unknown as { _bindings: Bindings })._bindings;
  const nativeModel = (model as unknown as { _model: unknown })._model;
  const pieces = [
    native?.sampleToken,
    native?.setThreads,
    native?.initBatch,
    native?.addToBatch,
    native?.decodeBatch,
    bindings?.AddonSampler?.acceptGrammarEvaluationStateToken,
    bindings?.AddonSampler?.canBeNextTokenForGrammarEvaluationState,
  ];
  if (pieces.some((piece) => typeof piece !== "function") || nativeModel === undefined) {
    throw new Error(UNSUPPORTED);
  }
  return { context: native, bindings, model: nativeModel };
}

export function toNative(sequence: LlamaContextSequence): NativeSequence {
  const native = sequence as unknown as NativeSequence;
  if (!Array.isArray(native._contextTokens) || native._nextTokenIndex !== native._contextTokens.length) {
    throw new Error(UNSUPPORTED);
  }
  return native;
}
