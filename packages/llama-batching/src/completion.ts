/** One request's choices, each sampled independently from one evaluation of the prompt. */

import { ModelError } from "./errors.ts";
import type { ContinuousBatcher } from "./evaluation/continuous-batcher.ts";
import { Generation, type GenerationOptions } from "./evaluation/generation.ts";
import type { TokenCounts } from "./evaluation/generation-options.ts";
import type { AcquiredSequence, PrefixReuse, SequencePool } from "./evaluation/sequence-pool.ts";
import type { LogprobReader } from "./sampling/logprob-reader.ts";
import type { SamplerOptions } from "./sampling/sampler.ts";
import type { GenerationEvent } from "./types.ts";

type PerChoice = "choice" | "acquired" | "sampling" | "logprobs" | "prefixSource" | "tokenCounts" | "emit";

export interface CompletionOptions extends Omit<GenerationOptions, PerChoice> {
  /** One entry for each choice. */
  samplings: readonly SamplerOptions[];
  createLogprobReader: () => LogprobReader | undefined;
  sequences: SequencePool;
  reuse: PrefixReuse;
  batcher: ContinuousBatcher;
  emit: (event: GenerationEvent) => void;
  signal: AbortSignal;
}

export class Completion {
  readonly #options: CompletionOptions;
  readonly #tokenCounts: TokenCounts = { completionTokens: 0, reasoningTokens: 0 };
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #running: Set<Generation> = new Set();
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  #hasEnded = false;
  #started = 0;
  #left: number;

  constructor(options: CompletionOptions) {
    this.#options = options;
    this.#left = options.samplings.length;
    this.#signal = AbortSignal.any([options.signal, this.#abort.signal]);
  }

  /** Runs to the end, with `first` for the first choice. Rejects with a ModelError; resolves early on abort. */
  run(first: AcquiredSequence): Promise<void> {
    const { samplings, sequences, prompt, reuse } = this.#options;
    this.#start(first, first.reusedTokens);
    while (this.#started < samplings.length) {
      const free = sequences.tryAcquire(prompt, reuse);
      if (free === undefined) break;
      this.#start(free, first.reusedTokens);
    }
    void this.#startRest(first.reusedTokens);
    return this.#ended.promise;
  }

  /** One after another, which lets other requests in between. */
  async #startRest(cachedTokens: number): Promise<void> {
    const { samplings, sequences, prompt, reuse } = this.#options;
    while (this.#started < samplings.length && !this.#hasEnded) {
      const acquired = await sequences.acquire(prompt, reuse, this.#signal);
      if (acquired === undefined) break;
      this.#start(acquired, cachedTokens);
    }
    if (this.#running.size === 0) this.#end();
  }

  #start(acquired: AcquiredSequence, cachedTokens: number): void {
    const { samplings, createLogprobReader, batcher, sequences } = this.#options;
    const choice = this.#started++;
    const [prefixSource] = this.#running;
    let generation: Generation;
    try {
      generation = new Generation({
        ...this.#options,
        sampling: samplings[choice] as SamplerOptions,
        logprobs: createLogprobReader(),
        choice,
        acquired,
        beginning: choice === 0 ? this.#options.beginning : undefined,
        prefixSource,
        tokenCounts: this.#tokenCounts,
        emit: (event) => this.#emit(event, cachedTokens),
      });
    } catch (error) {
      sequences.release(acquired.sequence, acquired.repeatableTokens);
      this.#fail(new ModelError("The model failed to start generating. Retry in 1 s.", 1, error));
      return;
    }
    this.#running.add(generation);
    void batcher.run(generation, this.#signal).then((failure) => {
      this.#running.delete(generation);
      sequences.release(acquired.sequence, generation.repeatableTokens);
      if (failure !== undefined) this.#fail(failure);
      if (this.#running.size === 0 && (this.#signal.aborted || this.#left === 0)) this.#end();
    });
  }

  #fail(failure: Error): void {
    this.#hasEnded = true;
    this.#ended.reject(failure);
    this.#abort.abort();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#ended.resolve();
  }

  #emit(event: GenerationEvent, cachedTokens: number): void {
    if (this.#hasEnded) return;
    // The first choice reads the prompt for all.
    const choices = event.type === "echo" ? this.#options.samplings.keys() : [];
    this.#options.emit(event);
    for (const choice of choices) if (choice > 0 && event.type === "echo") this.#options.emit({ ...event, choice });
    if (event.type !== "choice-end") return;
    this.#left -= 1;
    if (this.#left > 0) return;
    const { completionTokens, reasoningTokens } = this.#tokenCounts;
    const promptTokens = this.#options.prompt.length;
    this.#options.emit({
      type: "finish",
      usage: { promptTokens, completionTokens, cachedTokens, reasoningTokens, estimated: false },
    });
    this.#end();
  }
}
