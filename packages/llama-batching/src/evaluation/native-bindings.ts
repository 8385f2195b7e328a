/**
 * Private parts of node-llama-cpp: several samplers on the same logits, copies of sequence states, grammar queries. The
 * version is pinned, and everything used is checked when a model is loaded.
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

type Evaluate = (
  tokens: readonly Token[],
  logits: readonly (true | undefined)[],
  priority: number,
  meter: unknown,
  contextShift: object,
  sample: (index: number, offset: number) => Promise<unknown> | undefined,
  afterBatch: undefined,
) => Promise<unknown[]>;

interface NativeSequence {
  _decodeTokens: Evaluate;
  _copyStateFromOtherSequence(other: LlamaContextSequence, tokens: number): Promise<boolean>;
}

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
    bindings?.AddonSampler?.acceptGrammarEvaluationStateToken,
    bindings?.AddonSampler?.canBeNextTokenForGrammarEvaluationState,
  ];
  if (pieces.some((piece) => typeof piece !== "function") || nativeModel === undefined) {
    throw new Error("This version of node-llama-cpp is not supported: install the version that package.json pins");
  }
  return { context: native, bindings, model: nativeModel };
}

export function toNative(sequence: LlamaContextSequence): NativeSequence {
  return sequence as unknown as NativeSequence;
}
