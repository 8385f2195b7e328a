import { unavailable } from "../../faults.ts";
import type { BatchShare, Generation } from "./generation.ts";
import { cutSlice, PrefillPace, shareTokens } from "./prefill-pace.ts";

interface Running {
  signal: AbortSignal;
  done: (failure: Error | undefined) => void;
}

/**
 * Steps all running answers together: each batch holds the next token of every one of them, and slices of new prompts.
 * Left to themselves, the answers fall out of step and the binding evaluates them in several smaller batches, which
 * gave two thirds of the tokens a second at eight answers.
 */
export class BatchLoop {
  readonly #running: Map<Generation, Running> = new Map();
  readonly #pace: PrefillPace;
  readonly #beforeBatch: () => void;
  #isStepping = false;

  constructor(batchSize: number, beforeBatch: () => void) {
    this.#pace = new PrefillPace(batchSize);
    this.#beforeBatch = beforeBatch;
  }

  /** Resolves once the generation is over or given up, with why if it failed. */
  run(generation: Generation, signal: AbortSignal): Promise<Error | undefined> {
    return new Promise((resolve) => {
      this.#running.set(generation, { signal, done: resolve });
      if (!this.#isStepping) void this.#stepAll();
    });
  }

  async #stepAll(): Promise<void> {
    this.#isStepping = true;
    while (this.#running.size > 0) {
      for (const [generation, { signal }] of this.#running) if (signal.aborted) this.#end(generation);
      await this.#prepareNew();
      // Not sooner: the state of those that are over may have been taken over just now.
      for (const generation of this.#running.keys()) if (generation.isOver) this.#end(generation);
      if (this.#running.size > 0) await this.#step();
    }
    this.#isStepping = false;
  }

  async #prepareNew(): Promise<void> {
    for (const generation of this.#running.keys()) {
      const donor = this.#donorOf(generation);
      if (generation.isPrepared || (donor !== undefined && donor.promptLeft > 0)) continue;
      await this.#attempt(generation, () => generation.prepare(donor));
    }
  }

  #donorOf({ donor }: Generation): Generation | undefined {
    return donor !== undefined && this.#running.has(donor) ? donor : undefined;
  }

  async #step(): Promise<void> {
    const generations = [...this.#running.keys()].filter((generation) => generation.isPrepared);
    const decoding = generations.filter((generation) => generation.promptLeft === 0);
    const prefilling = generations.filter((generation) => generation.promptLeft > 0);
    const needs = prefilling.map((generation) => generation.promptLeft);
    const shares = shareTokens(needs, this.#pace.budget(decoding.length)).map((share, index) =>
      cutSlice(needs[index] as number, share),
    );
    this.#beforeBatch();
    const startedAt = performance.now();
    const step = (generation: Generation, share: BatchShare) => this.#attempt(generation, () => generation.step(share));
    await Promise.all([
      ...decoding.map((generation) => step(generation, { promptTokens: 0, isAlone: false })),
      ...prefilling.map((generation, index) =>
        step(generation, { promptTokens: shares[index] as number, isAlone: generations.length === 1 }),
      ),
    ]);
    const promptTokens = shares.reduce((sum, share) => sum + share, 0);
    this.#pace.record(promptTokens, performance.now() - startedAt);
  }

  async #attempt(generation: Generation, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#end(
        generation,
        unavailable("The model failed while it evaluated this request.", "engine_failed", 1, error),
      );
    }
  }

  #end(generation: Generation, failure?: Error): void {
    const entry = this.#running.get(generation);
    this.#running.delete(generation);
    generation.end();
    entry?.done(failure);
  }
}
