/** Evaluates tokens and samples from their logits. */

import {
  type LlamaContext,
  type LlamaContextSequence,
  LlamaGrammar,
  LlamaGrammarEvaluationState,
  type LlamaModel,
  type Token,
} from "node-llama-cpp";
import { GrammarState } from "../sampling/grammar-state.ts";
import { Sampler, type SamplerOptions } from "../sampling/sampler.ts";
import { BatchEvaluator, type LogitsIndex, type ReadLogits } from "./batch-evaluator.ts";
import { type Bindings, type NativeContext, nativeContextOf, nativeParts, toNative } from "./native-bindings.ts";

export interface Logits {
  /** Most likely first. */
  top: Array<[token: Token, logit: number]>;
  /** Logit of the requested token. */
  logit: number;
  /** Sum of exp(logit - maximum logit) over the vocabulary. */
  weight: number;
}

/** Samples from the logits of the last evaluated token. */
export type Sample<Sampled> = (index: LogitsIndex) => Promise<Sampled>;

/** Whether a token is evaluated after the last one and erased again, which changes how llama.cpp evaluates the last one. */
export type Padding = "none" | "token";

/** Native memory of a parsed grammar for each character of its text, measured. */
const BYTES_PER_CHARACTER = 4;

export class NativeDecoder {
  readonly #model: LlamaModel;
  readonly #context: LlamaContext;
  readonly #batches: BatchEvaluator;
  readonly #bindings: Bindings;
  readonly #nativeModel: unknown;

  /** Throws when the installed binding lacks one of the private parts. */
  constructor(model: LlamaModel, context: LlamaContext) {
    const { bindings, model: nativeModel } = nativeParts(model, context);
    this.#model = model;
    this.#context = context;
    this.#batches = new BatchEvaluator(context, Number(process.env.UV_THREADPOOL_SIZE));
    this.#bindings = bindings;
    this.#nativeModel = nativeModel;
  }

  /** Another one after each growth of the context. */
  get #native(): NativeContext {
    return nativeContextOf(this.#context);
  }

  /** Milliseconds that all evaluations have taken, without the sampling. */
  get evaluatedMs(): number {
    return this.#batches.evaluatedMs;
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

  /** Sets the number of threads that evaluate the next batch. */
  setThreads(threads: number): void {
    this.#native.setThreads(threads);
  }

  async evaluate(sequence: LlamaContextSequence, tokens: readonly Token[], padding: Padding = "none"): Promise<void> {
    await this.#batches.evaluate(sequence, withPadding(tokens, padding), [], async () => undefined);
    await erasePadding(sequence, padding);
  }

  async evaluateAndSample<Sampled>(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    sample: Sample<Sampled>,
    padding: Padding = "none",
  ): Promise<Sampled> {
    const last = [tokens.length - 1];
    const [sampled] = await this.#batches.evaluate(sequence, withPadding(tokens, padding), last, sample);
    await erasePadding(sequence, padding);
    return sampled as Sampled;
  }

  /** Evaluates the tokens and calls `read` with the logits after each, and its offset. */
  async evaluateEach(sequence: LlamaContextSequence, tokens: readonly Token[], read: ReadLogits<void>): Promise<void> {
    await this.#batches.evaluate(sequence, tokens, [...tokens.keys()], read);
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
    const native = toNative(to);
    if (typeof native._copyStateFromOtherSequence !== "function") return false;
    return await native._copyStateFromOtherSequence(from, tokens);
  }
}

export interface LogitReaders {
  flat: Sampler;
  best: Sampler;
}

function withPadding(tokens: readonly Token[], padding: Padding): readonly Token[] {
  return padding === "none" ? tokens : [...tokens, tokens.at(-1) as Token];
}

async function erasePadding(sequence: LlamaContextSequence, padding: Padding): Promise<void> {
  if (padding === "none") return;
  const end = sequence.nextTokenIndex;
  await sequence.eraseContextTokenRanges([{ start: end - 1, end }]);
}
