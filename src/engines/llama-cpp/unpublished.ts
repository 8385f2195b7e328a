/**
 * What the binding can do but does not publish: several samplers on the same logits, states of sequences copied, grammars
 * asked. Its version is pinned, and all that is used is looked for when a model is loaded.
 */

import {
  type LlamaContext,
  type LlamaContextSequence,
  LlamaGrammar,
  LlamaGrammarEvaluationState,
  type LlamaModel,
  type Token,
} from "node-llama-cpp";

/** Settings of one sampler. Biases and penalties act first, then top-k, top-p, min-p and the temperature. */
export interface SamplerConfig {
  /** 0 is greedy, and nothing below acts then. */
  temperature: number;
  /** 0: the whole vocabulary. */
  topK: number;
  topP: number;
  minP: number;
  seed: number;
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
  repeatPenalty?: number;
  repeatPenaltyFrequencyPenalty?: number;
  repeatPenaltyPresencePenalty?: number;
  /** How many of the last tokens count. */
  repeatPenaltyMaxTokens?: number;
  /** What was drawn so far; what this sampler draws it adds by itself. */
  repeatPenaltyTokens?: Uint32Array;
}

export interface Logits {
  /** The likeliest first. */
  top: Array<[token: Token, logit: number]>;
  /** Of the token asked for. */
  logit: number;
  /** Sum of exp(logit - the greatest logit) over the vocabulary. */
  weight: number;
}

interface NativeSampler {
  applyConfig(config: object): void;
  dispose(): void;
}

interface Bindings {
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

interface NativeContext {
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
  sample: (index: number) => Promise<unknown> | undefined,
  afterBatch: undefined,
) => Promise<unknown[]>;

interface NativeSequence {
  _decodeTokens: Evaluate;
  _copyStateFromOtherSequence(other: LlamaContextSequence, tokens: number): Promise<boolean>;
}

/** Samples after the last of the tokens that were evaluated. */
export type Draw<Drawn> = (index: LogitsIndex) => Promise<Drawn>;

/** Where in a batch the logits stand; good until the next batch. */
export type LogitsIndex = number & { readonly __logitsIndex: unique symbol };

/** Of memory, for each of a grammar's text: measured. */
const BYTES_PER_CHARACTER = 4;
const PRIORITY = 3;
/** The window is kept by counting; to forget the beginning instead would be a silent cut. */
const NEVER_SHIFT = {
  size: 1,
  strategy: () => {
    throw new Error("The context window is full");
  },
};

/** Makes tokens, one batch of the binding at a time. */
export class Decoder {
  readonly #model: LlamaModel;
  readonly #native: NativeContext;
  readonly #bindings: Bindings;
  readonly #nativeModel: unknown;

  /** Throws when the binding is another than the one that this was written for. */
  constructor(model: LlamaModel, context: LlamaContext) {
    const insideModel = model as unknown as { _model: unknown };
    this.#model = model;
    this.#native = (context as unknown as { _ctx: NativeContext })._ctx;
    this.#bindings = (model.llama as unknown as { _bindings: Bindings })._bindings;
    this.#nativeModel = insideModel._model;
    const pieces = [
      this.#native?.sampleToken,
      this.#bindings?.AddonSampler?.acceptGrammarEvaluationStateToken,
      this.#bindings?.AddonSampler?.canBeNextTokenForGrammarEvaluationState,
    ];
    if (pieces.some((piece) => typeof piece !== "function") || insideModel._model === undefined) {
      throw new Error("This version of node-llama-cpp is not the one that Parlance was made for");
    }
  }

  /** To be disposed once; its memory goes with the next garbage collection. */
  makeSampler(config: SamplerConfig): Sampler {
    return new Sampler(new this.#bindings.AddonSampler(this.#nativeModel), config);
  }

  /** Throws when the grammar cannot be read. */
  readGrammar(text: string): GrammarState {
    const grammar = new LlamaGrammar(this.#model.llama, { grammar: text });
    const state = new LlamaGrammarEvaluationState({ model: this.#model, grammar });
    return new GrammarState(state, this.#bindings, text.length * BYTES_PER_CHARACTER);
  }

  async evaluate(sequence: LlamaContextSequence, tokens: readonly Token[]): Promise<void> {
    await inside(sequence)._decodeTokens(
      tokens,
      [],
      PRIORITY,
      sequence.tokenMeter,
      NEVER_SHIFT,
      () => undefined,
      undefined,
    );
  }

  async evaluateAndDraw<Drawn>(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    draw: Draw<Drawn>,
  ): Promise<Drawn> {
    const last = tokens.length - 1;
    const wanted = tokens.map((_, index) => (index === last ? (true as const) : undefined));
    // A failure in here would leave the binding's batch, and everybody who waits for it, without an end.
    const sample = (index: number) =>
      draw(index as LogitsIndex).then(
        (value) => ({ value }),
        (failure: unknown) => ({ failure }),
      );
    const results = await inside(sequence)._decodeTokens(
      tokens,
      wanted,
      PRIORITY,
      sequence.tokenMeter,
      NEVER_SHIFT,
      sample,
      undefined,
    );
    const drawn = results[last] as Awaited<ReturnType<typeof sample>>;
    if ("failure" in drawn) throw drawn.failure;
    return drawn.value;
  }

  async draw(index: LogitsIndex, sampler: Sampler): Promise<Token> {
    const token = await this.#native.sampleToken(index, sampler.native);
    if (token === -1) throw new Error("No token can be drawn here");
    return token;
  }

  /** The model's own logits: `flat` has to be greedy, `best` to keep `top` tokens at temperature 1, both without biases. */
  async readLogits(index: LogitsIndex, token: Token, top: number, { flat, best }: LogitReaders): Promise<Logits> {
    const [, , , likeliest] = await this.#native.sampleToken(
      index,
      best.native,
      false,
      false,
      [[], false, false, false, top],
      false,
    );
    const [, , , own, weight] = await this.#native.sampleToken(
      index,
      flat.native,
      false,
      false,
      [[token], false, false, false, 0],
      true,
    );
    const pairs = Array.from({ length: likeliest.length / 2 }, (_, pair): [Token, number] => [
      likeliest[2 * pair] as Token,
      likeliest[2 * pair + 1] as number,
    ]);
    return { top: pairs, logit: own[1] as number, weight };
  }

  /** The first `tokens` tokens of what another sequence holds. Not while a batch is evaluated. False: nothing was copied. */
  async copyState(from: LlamaContextSequence, to: LlamaContextSequence, tokens: number): Promise<boolean> {
    if (typeof inside(to)._copyStateFromOtherSequence !== "function") return false;
    return await inside(to)._copyStateFromOtherSequence(from, tokens);
  }
}

export interface LogitReaders {
  flat: Sampler;
  best: Sampler;
}

export class Sampler {
  readonly native: NativeSampler;
  readonly #config: SamplerConfig;

  constructor(native: NativeSampler, config: SamplerConfig) {
    this.native = native;
    this.#config = config;
    native.applyConfig(config);
  }

  /** From now on only what the grammar allows is drawn. `drawn` is what this sampler drew so far. */
  constrain(grammar: GrammarState, drawn: readonly Token[]): void {
    const { repeatPenaltyTokens } = this.#config;
    this.native.applyConfig({
      ...this.#config,
      ...(repeatPenaltyTokens === undefined ? {} : { repeatPenaltyTokens: Uint32Array.from(drawn) }),
      grammarEvaluationState: grammar.native,
    });
  }

  dispose(): void {
    this.native.dispose();
  }
}

/** How far an answer has come in its grammar. */
export class GrammarState {
  /** About as much as it takes, freed with the next garbage collection. */
  readonly bytes: number;
  readonly #state: LlamaGrammarEvaluationState;
  readonly #bindings: Bindings;

  constructor(state: LlamaGrammarEvaluationState, bindings: Bindings, bytes: number) {
    this.#state = state;
    this.#bindings = bindings;
    this.bytes = bytes;
  }

  get native(): unknown {
    return (this.#state as unknown as { _state: unknown })._state;
  }

  clone(): GrammarState {
    return new GrammarState(this.#state.clone(), this.#bindings, this.bytes);
  }

  allows(token: Token): boolean {
    return this.#bindings.AddonSampler.canBeNextTokenForGrammarEvaluationState(this.native, token);
  }

  /** For tokens that no constrained sampler drew. Throws when the grammar does not allow it. */
  accept(token: Token): void {
    this.#bindings.AddonSampler.acceptGrammarEvaluationStateToken(this.native, token);
  }
}

function inside(sequence: LlamaContextSequence): NativeSequence {
  return sequence as unknown as NativeSequence;
}
