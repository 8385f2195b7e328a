/** One answer: its choices, each decoded for itself, all from one evaluation of the prompt. */

import { AsyncQueue } from "../../async/async-queue.ts";
import { unavailable } from "../../faults.ts";
import type { ChatEvent } from "../chat-model.ts";
import type { BatchLoop } from "./batch-loop.ts";
import { Generation, type GenerationOptions, type Tally } from "./generation.ts";
import type { Logprobs } from "./logprobs.ts";
import type { Reuse, SequencePool, TakenSequence } from "./sequence-pool.ts";
import type { SamplerConfig } from "./unpublished.ts";

type PerChoice = "choice" | "taken" | "sampling" | "logprobs" | "donor" | "tally" | "emit";

export interface AnswerOptions extends Omit<GenerationOptions, PerChoice> {
  /** How each choice is drawn. */
  samplings: readonly SamplerConfig[];
  makeLogprobs: () => Logprobs | undefined;
  sequences: SequencePool;
  reuse: Reuse;
  loop: BatchLoop;
  signal: AbortSignal;
}

export class Answer {
  readonly events: AsyncQueue<ChatEvent> = new AsyncQueue();
  readonly #options: AnswerOptions;
  readonly #tally: Tally = { completionTokens: 0, reasoningTokens: 0 };
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #running: Set<Generation> = new Set();
  #started = 0;
  #left: number;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#left = options.samplings.length;
    this.#signal = AbortSignal.any([options.signal, this.#abort.signal]);
  }

  /** With the sequence that the first choice may begin with at once. */
  run(first: TakenSequence): void {
    const { samplings, sequences, prompt, reuse } = this.#options;
    this.#start(first, first.reusedTokens);
    while (this.#started < samplings.length) {
      const free = sequences.takeFree(prompt, reuse);
      if (free === undefined) break;
      this.#start(free, first.reusedTokens);
    }
    void this.#startRest(first.reusedTokens);
  }

  /** One after another, so that other requests come in between. */
  async #startRest(cachedTokens: number): Promise<void> {
    const { samplings, sequences, prompt, reuse } = this.#options;
    while (this.#started < samplings.length && !this.events.hasEnded) {
      const taken = await sequences.take(prompt, reuse, this.#signal);
      if (taken === undefined) break;
      this.#start(taken, cachedTokens);
    }
    if (this.#running.size === 0) this.events.end();
  }

  #start(taken: TakenSequence, cachedTokens: number): void {
    const { samplings, makeLogprobs, loop, sequences } = this.#options;
    const choice = this.#started++;
    const [donor] = this.#running;
    let generation: Generation;
    try {
      generation = new Generation({
        ...this.#options,
        sampling: samplings[choice] as SamplerConfig,
        logprobs: makeLogprobs(),
        choice,
        taken,
        donor,
        tally: this.#tally,
        emit: (event) => this.#emit(event, cachedTokens),
      });
    } catch (error) {
      sequences.give(taken.sequence, taken.repeatableTokens);
      this.#fail(unavailable("The model failed to begin an answer.", "engine_failed", 1, error));
      return;
    }
    this.#running.add(generation);
    void loop.run(generation, this.#signal).then((failure) => {
      this.#running.delete(generation);
      sequences.give(taken.sequence, generation.repeatableTokens);
      if (failure !== undefined) this.#fail(failure);
      if (this.#running.size === 0 && (this.#signal.aborted || this.#left === 0)) this.events.end();
    });
  }

  #fail(failure: Error): void {
    this.events.end(failure);
    this.#abort.abort();
  }

  #emit(event: ChatEvent, cachedTokens: number): void {
    if (this.events.hasEnded) return;
    this.events.push(event);
    if (event.type !== "choice-end") return;
    this.#left -= 1;
    if (this.#left > 0) return;
    const { completionTokens, reasoningTokens } = this.#tally;
    const usage = {
      promptTokens: this.#options.prompt.length,
      completionTokens,
      cachedTokens,
      reasoningTokens,
      estimated: false,
    };
    this.events.push({ type: "finish", usage });
    this.events.end();
  }
}
