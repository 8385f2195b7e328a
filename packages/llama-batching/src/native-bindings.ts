/**
 * Private parts of node-llama-cpp: several samplers on the same logits, copies of sequence states, grammar queries. The
 * version is pinned, and everything used is checked when a model is loaded.
 */

import {
  type LlamaContext,
  type LlamaContextSequence,
  LlamaGrammar,
  LlamaGrammarEvaluationState,
  type LlamaModel,
  type Token,
} from "node-llama-cpp";

/** Options of one sampler. Applied in order: biases, penalties, top-k, top-p, min-p, temperature. */
export interface SamplerOptions {
  /** 0 is greedy and ignores top-k, top-p, min-p and seed. */
  temperature: number;
  /** 0: the entire vocabulary. */
  topK: number;
  topP: number;
  minP: number;
  seed: number;
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
  repeatPenalty?: number;
  repeatPenaltyFrequencyPenalty?: number;
  repeatPenaltyPresencePenalty?: number;
  /** Number of most recent tokens that count. */
  repeatPenaltyMaxTokens?: number;
  /** Tokens sampled so far; the sampler adds its own. */
  repeatPenaltyTokens?: Uint32Array;
}

export interface Logits {
  /** Most likely first. */
  top: Array<[token: Token, logit: number]>;
  /** Logit of the requested token. */
  logit: number;
  /** Sum of exp(logit - maximum logit) over the vocabulary. */
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
  sample: (index: number, offset: number) => Promise<unknown> | undefined,
  afterBatch: undefined,
) => Promise<unknown[]>;

interface NativeSequence {
  _decodeTokens: Evaluate;
  _copyStateFromOtherSequence(other: LlamaContextSequence, tokens: number): Promise<boolean>;
}

/** Samples from the logits of the last evaluated token. */
export type Sample<Sampled> = (index: LogitsIndex) => Promise<Sampled>;

/** Index of logits in a batch; valid until the next batch. */
export type LogitsIndex = number & { readonly __logitsIndex: unique symbol };

/** Native memory of a parsed grammar for each character of its text, measured. */
const BYTES_PER_CHARACTER = 4;
const PRIORITY = 3;
/** The context window is enforced by counting; shifting would silently drop the beginning. */
const NEVER_SHIFT = {
  size: 1,
  strategy: () => {
    throw new Error("The context window is full");
  },
};

/** Evaluates tokens and samples from their logits. */
export class NativeDecoder {
  readonly #model: LlamaModel;
  readonly #native: NativeContext;
  readonly #bindings: Bindings;
  readonly #nativeModel: unknown;

  /** Throws when the installed binding lacks one of the private parts. */
  constructor(model: LlamaModel, context: LlamaContext) {
    const nativeModel = model as unknown as { _model: unknown };
    this.#model = model;
    this.#native = (context as unknown as { _ctx: NativeContext })._ctx;
    this.#bindings = (model.llama as unknown as { _bindings: Bindings })._bindings;
    this.#nativeModel = nativeModel._model;
    const pieces = [
      this.#native?.sampleToken,
      this.#bindings?.AddonSampler?.acceptGrammarEvaluationStateToken,
      this.#bindings?.AddonSampler?.canBeNextTokenForGrammarEvaluationState,
    ];
    if (pieces.some((piece) => typeof piece !== "function") || nativeModel._model === undefined) {
      throw new Error("This version of node-llama-cpp is not supported: install the version that package.json pins");
    }
  }

  /** `bannedAtFirst` is banned until `liftBan` or `constrain`. Dispose it once; its memory is freed with the next garbage collection. */
  createSampler(config: SamplerOptions, bannedAtFirst: readonly Token[] = []): Sampler {
    return new Sampler(new this.#bindings.AddonSampler(this.#nativeModel), config, bannedAtFirst);
  }

  /** Throws when the grammar does not parse. */
  parseGrammar(text: string): GrammarState {
    const grammar = new LlamaGrammar(this.#model.llama, { grammar: text });
    const state = new LlamaGrammarEvaluationState({ model: this.#model, grammar });
    return new GrammarState(state, this.#bindings, text.length * BYTES_PER_CHARACTER);
  }

  async evaluate(sequence: LlamaContextSequence, tokens: readonly Token[]): Promise<void> {
    await toNative(sequence)._decodeTokens(
      tokens,
      [],
      PRIORITY,
      sequence.tokenMeter,
      NEVER_SHIFT,
      () => undefined,
      undefined,
    );
  }

  async evaluateAndSample<Sampled>(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    sample: Sample<Sampled>,
  ): Promise<Sampled> {
    const last = tokens.length - 1;
    const logits = tokens.map((_, index) => (index === last ? (true as const) : undefined));
    const [sampled] = await this.#decodeAndRead(sequence, tokens, logits, sample);
    return sampled as Sampled;
  }

  /** Evaluates the tokens and calls `read` with the logits after each, and its offset. */
  async evaluateEach(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    read: (index: LogitsIndex, offset: number) => Promise<void>,
  ): Promise<void> {
    const all = tokens.map(() => true as const);
    await this.#decodeAndRead(sequence, tokens, all, read);
  }

  async #decodeAndRead<Result>(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    logits: readonly (true | undefined)[],
    read: (index: LogitsIndex, offset: number) => Promise<Result>,
  ): Promise<Result[]> {
    // A rejection in here would leave the binding's batch, and all requests in it, pending forever.
    const settle = (index: number, offset: number) =>
      read(index as LogitsIndex, offset).then(
        (value) => ({ value }),
        (failure: unknown) => ({ failure }),
      );
    const results = (await toNative(sequence)._decodeTokens(
      tokens,
      logits,
      PRIORITY,
      sequence.tokenMeter,
      NEVER_SHIFT,
      settle,
      undefined,
    )) as (Awaited<ReturnType<typeof settle>> | undefined)[];
    return results.flatMap((result) => {
      if (result === undefined) return [];
      if ("failure" in result) throw result.failure;
      return [result.value];
    });
  }

  async sample(index: LogitsIndex, sampler: Sampler): Promise<Token> {
    const token = await this.#native.sampleToken(index, sampler.native);
    if (token === -1) throw new Error("No token can be sampled here");
    return token;
  }

  /** Logits of the model itself. `flat` must be greedy, `best` must keep `top` tokens at temperature 1, both unbiased. */
  async readLogits(index: LogitsIndex, token: Token, top: number, { flat, best }: LogitReaders): Promise<Logits> {
    const [, , , highest] = await this.#native.sampleToken(
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
    const pairs = Array.from({ length: highest.length / 2 }, (_, pair): [Token, number] => [
      highest[2 * pair] as Token,
      highest[2 * pair + 1] as number,
    ]);
    return { top: pairs, logit: own[1] as number, weight };
  }

  /** Copies the state of the first `tokens` tokens. Not while a batch is evaluated. False: nothing was copied. */
  async copyState(from: LlamaContextSequence, to: LlamaContextSequence, tokens: number): Promise<boolean> {
    if (typeof toNative(to)._copyStateFromOtherSequence !== "function") return false;
    return await toNative(to)._copyStateFromOtherSequence(from, tokens);
  }
}

export interface LogitReaders {
  flat: Sampler;
  best: Sampler;
}

export class Sampler {
  readonly native: NativeSampler;
  readonly #config: SamplerOptions;

  constructor(native: NativeSampler, config: SamplerOptions, bannedAtFirst: readonly Token[]) {
    this.native = native;
    this.#config = config;
    native.applyConfig(bannedAtFirst.length === 0 ? config : withBan(config, bannedAtFirst));
  }

  /** Allows the tokens that were banned at first. `sampled` is what this sampler returned so far. */
  liftBan(sampled: readonly Token[]): void {
    this.native.applyConfig(this.#configAfter(sampled));
  }

  /** Constrains the following tokens to the grammar. `sampled` is what this sampler returned so far. */
  constrain(grammar: GrammarState, sampled: readonly Token[]): void {
    this.native.applyConfig({ ...this.#configAfter(sampled), grammarEvaluationState: grammar.native });
  }

  #configAfter(sampled: readonly Token[]): SamplerOptions {
    const { repeatPenaltyTokens } = this.#config;
    return repeatPenaltyTokens === undefined
      ? this.#config
      : { ...this.#config, repeatPenaltyTokens: Uint32Array.from(sampled) };
  }

  dispose(): void {
    this.native.dispose();
  }
}

function withBan(config: SamplerOptions, banned: readonly Token[]): SamplerOptions {
  const { tokenBiasKeys = [], tokenBiasValues = [] } = config;
  return {
    ...config,
    tokenBiasKeys: Uint32Array.from([...tokenBiasKeys, ...banned]),
    tokenBiasValues: Float32Array.from([...tokenBiasValues, ...banned.map(() => Number.NEGATIVE_INFINITY)]),
  };
}

/** Position of an output in its grammar. */
export class GrammarState {
  /** Approximate native memory, freed with the next garbage collection. */
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

  /** Advances by a token that no constrained sampler returned. Throws when the grammar does not allow it. */
  accept(token: Token): void {
    this.#bindings.AddonSampler.acceptGrammarEvaluationStateToken(this.native, token);
  }
}

function toNative(sequence: LlamaContextSequence): NativeSequence {
  return sequence as unknown as NativeSequence;
}
