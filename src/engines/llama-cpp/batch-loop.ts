import { unavailable } from "../../faults.ts";
import type { BatchShare, Generation } from "./generation.ts";
import { cutSlice, PrefillPace, shareTokens } from "./prefill-pace.ts";

/**
 * Steps all running answers together: each batch holds the next token of every one of them, and slices of new prompts.
 * Left to themselves, the answers fall out of step and the binding evaluates them in several smaller batches, which
 * gave two thirds of the tokens a second at eight answers.
 */
export class BatchLoop {
  readonly #running: Map<Generation, { signal: AbortSignal; done: () => void }> = new Map();
  readonly #pace: PrefillPace;
  readonly #beforeBatch: () => void;
  #isStepping = false;

  constructor(batchSize: number, beforeBatch: () => void) {
    this.#pace = new PrefillPace(batchSize);
    this.#beforeBatch = beforeBatch;
  }

  /** Resolves once the answer is over, given up, or failed; its events tell which. */
  run(generation: Generation, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#running.set(generation, { signal, done: resolve });
      if (!this.#isStepping) void this.#stepAll();
    });
  }

  async #stepAll(): Promise<void> {
    this.#isStepping = true;
    while (this.#running.size > 0) {
      await this.#endAbandoned();
      await this.#step();
    }
    this.#isStepping = false;
  }

  async #endAbandoned(): Promise<void> {
    for (const [generation, { signal }] of this.#running) {
      if (signal.aborted) await this.#end(generation);
    }
  }

  async #step(): Promise<void> {
    const generations = [...this.#running.keys()];
    const decoding = generations.filter((generation) => generation.promptLeft === 0);
    const prefilling = generations.filter((generation) => generation.promptLeft > 0);
    const needs = prefilling.map((generation) => generation.promptLeft);
    const shares = shareTokens(needs, this.#pace.budget(decoding.length)).map((share, index) =>
      cutSlice(needs[index] as number, share),
    );
    this.#beforeBatch();
    const startedAt = performance.now();
    await Promise.all([
      ...decoding.map((generation) => this.#stepOne(generation, { promptTokens: 0, isAlone: false })),
      ...prefilling.map((generation, index) =>
        this.#stepOne(generation, { promptTokens: shares[index] as number, isAlone: generations.length === 1 }),
      ),
    ]);
    const promptTokens = shares.reduce((sum, share) => sum + share, 0);
    this.#pace.record(promptTokens, performance.now() - startedAt);
  }

  async #stepOne(generation: Generation, share: BatchShare): Promise<void> {
    try {
      await generation.step(share);
      if (generation.isOver) await this.#end(generation);
    } catch (error) {
      await this.#end(
        generation,
        unavailable("The model failed while it evaluated this request.", "engine_failed", 1, error),
      );
    }
  }

  async #end(generation: Generation, failure?: Error): Promise<void> {
    const entry = this.#running.get(generation);
    this.#running.delete(generation);
    await generation.end(failure);
    entry?.done();
  }
}
