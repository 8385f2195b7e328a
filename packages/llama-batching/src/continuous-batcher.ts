import { ModelError } from "./errors.ts";
import type { BatchShare, Generation } from "./generation.ts";
import { adjustSlice, PrefillScheduler, splitBudget } from "./prefill-scheduler.ts";

interface Running {
  signal: AbortSignal;
  done: (failure: Error | undefined) => void;
}

/**
 * Steps all running generations together: each batch holds the next token of every one of them, and slices of new
 * prompts. Stepped independently, they drift apart and the binding evaluates them in several smaller batches: 330
 * instead of 549 tokens/s with eight requests (two cores, SmolLM2-135M).
 */
export class ContinuousBatcher {
  readonly #running: Map<Generation, Running> = new Map();
  readonly #scheduler: PrefillScheduler;
  readonly #beforeBatch: () => void;
  #isStepping = false;

  constructor(batchSize: number, beforeBatch: () => void) {
    this.#scheduler = new PrefillScheduler(batchSize);
    this.#beforeBatch = beforeBatch;
  }

  /** Resolves once the generation ended or was aborted, with the error if it failed. */
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
      // Only now: the state of an ended generation may just have been copied to another.
      for (const generation of this.#running.keys()) if (generation.isOver) this.#end(generation);
      if (this.#running.size > 0) await this.#step();
    }
    this.#isStepping = false;
  }

  async #prepareNew(): Promise<void> {
    for (const generation of this.#running.keys()) {
      const prefixSource = this.#prefixSourceOf(generation);
      if (generation.isPrepared || (prefixSource !== undefined && prefixSource.promptLeft > 0)) continue;
      await this.#attempt(generation, () => generation.prepare(prefixSource));
    }
  }

  #prefixSourceOf({ prefixSource }: Generation): Generation | undefined {
    return prefixSource !== undefined && this.#running.has(prefixSource) ? prefixSource : undefined;
  }

  async #step(): Promise<void> {
    // llama.cpp evaluates sequences together only if they come in order: in another order, four or eight requests get
    // a quarter fewer tokens for the same CPU time.
    const generations = [...this.#running.keys()]
      .filter((generation) => generation.isPrepared)
      .sort((a, b) => a.sequenceId - b.sequenceId);
    const decoding = generations.filter((generation) => generation.promptLeft === 0);
    const prefilling = generations.filter((generation) => generation.promptLeft > 0);
    const needs = prefilling.map((generation) => generation.maxSlice);
    const shares = splitBudget(needs, this.#scheduler.budget(decoding.length)).map((share, index) =>
      adjustSlice(needs[index] as number, share),
    );
    this.#beforeBatch();
    const startedAt = performance.now();
    const step = (generation: Generation, share: BatchShare) => this.#attempt(generation, () => generation.step(share));
    const shareOf = new Map(prefilling.map((generation, index) => [generation, shares[index] as number]));
    const isAlone = generations.length === 1;
    await Promise.all(
      generations.map((generation) => step(generation, { promptTokens: shareOf.get(generation) ?? 0, isAlone })),
    );
    const promptTokens = shares.reduce((sum, share) => sum + share, 0);
    this.#scheduler.record(promptTokens, performance.now() - startedAt);
  }

  async #attempt(generation: Generation, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#end(generation, new ModelError("The model failed while it evaluated this request.", 1, error));
    }
  }

  #end(generation: Generation, failure?: Error): void {
    const entry = this.#running.get(generation);
    this.#running.delete(generation);
    generation.end();
    entry?.done(failure);
  }
}
