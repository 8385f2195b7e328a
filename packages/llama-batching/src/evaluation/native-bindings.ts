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
  dispose(): Promise<void>;
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

/** The private parts of a context. */
interface ContextParts {
  _ctx: NativeContext;
  _contextSize: number;
}

/** The private parts of a loaded model. */
interface NativeParts {
  bindings: Bindings;
  model: unknown;
}

/** Throws when the installed binding lacks one of the private parts. */
export function nativeParts(model: LlamaModel, context: LlamaContext): NativeParts {
  const native = nativeContextOf(context);
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
  return { bindings, model: nativeModel };
}

export function nativeContextOf(context: LlamaContext): NativeContext {
  return (context as unknown as ContextParts)._ctx;
}

/** Lets `context` evaluate with what `other` was created with, whose object is disposed of. */
export async function swapNativeContexts(context: LlamaContext, other: LlamaContext): Promise<void> {
  const [parts, otherParts] = [context, other] as unknown as [ContextParts, ContextParts];
  if (parts._contextSize !== context.contextSize) throw new Error(UNSUPPORTED);
  [parts._ctx, otherParts._ctx] = [otherParts._ctx, parts._ctx];
  [parts._contextSize, otherParts._contextSize] = [otherParts._contextSize, parts._contextSize];
  await other.dispose();
}

export function toNative(sequence: LlamaContextSequence): NativeSequence {
  const native = sequence as unknown as NativeSequence;
  if (!Array.isArray(native._contextTokens) || native._nextTokenIndex !== native._contextTokens.length) {
    throw new Error(UNSUPPORTED);
  }
  return native;
}
