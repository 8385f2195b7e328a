import { ModelError } from "../errors.ts";
import type { Generation } from "./generation.ts";
import type { BatchShare } from "./generation-options.ts";
import type { GrowingContext } from "./growing-context.ts";
import type { Padding } from "./native-decoder.ts";
import { adjustSlice, assignBudget, type Pace, PrefillScheduler, repeatableSlice } from "./prefill-scheduler.ts";
import { type BatchItem, findLoneTokens } from "./split-batch.ts";

interface Running {
  signal: AbortSignal;
  done: (failure: Error | undefined) => void;
}

export interface BatchThreads {
  /** Threads to evaluate the next batch with. */
  readonly current: number;
  use: (threads: number) => void;
}

export interface BatcherOptions {
  /** Limit of tokens in a batch. */
  batchSize: number;
  pace: Pace;
  threads: BatchThreads;
  /** Has room for a number of tokens in each slot, and more where memory allows. */
  context: Pick<GrowingContext, "size" | "reserve" | "replacements" | "restoresExactly">;
  /** Evaluates the batches; counts how long evaluations took without the sampling. */
  decoder: { readonly evaluatedMs: number };
}

/**
 * Steps all running generations together: each batch holds the next token of every one of them, and slices of new
 * prompts, except those that are evaluated apart. Stepped independently, they drift apart and the binding evaluates them in several smaller batches: 330
 * instead of 549 tokens/s with eight requests (two cores, SmolLM2-135M).
 */
export class ContinuousBatcher {
  readonly #running: Map<Generation, Running> = new Map();
  readonly #scheduler: PrefillScheduler;
  readonly #batchSize: number;
  readonly #threads: BatchThreads;
  readonly #decoder: BatcherOptions["decoder"];
  readonly #context: BatcherOptions["context"];
  /** When each generation last evaluated a slice apart: they take turns. */
  readonly #servedApart: WeakMap<Generation, number> = new WeakMap();
  readonly #between: (() => Promise<void>)[] = [];
  #turn = 0;
  #isStepping = false;

  constructor({ batchSize, pace, threads, decoder, context }: BatcherOptions) {
    this.#batchSize = batchSize;
    this.#scheduler = new PrefillScheduler(batchSize, pace);
    this.#threads = threads;
    this.#decoder = decoder;
    this.#context = context;
  }

  /** Resolves once the generation ended or was aborted, with the error if it failed. */
  run(generation: Generation, signal: AbortSignal): Promise<Error | undefined> {
    return new Promise((resolve) => {
      this.#running.set(generation, { signal, done: resolve });
      if (!this.#isStepping) void this.#stepAll();
    });
  }

  /** Runs `act` before the next batch, which waits for it. What it throws ends the process: the context may be lost. */
  betweenBatches<Result>(act: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve) => {
      this.#between.push(() => act().then(resolve));
      if (!this.#isStepping) void this.#stepAll();
    });
  }

  async #stepAll(): Promise<void> {
    this.#isStepping = true;
    while (this.#running.size > 0 || this.#between.length > 0) {
      for (const act of this.#between.splice(0)) await act();
      for (const [generation, { signal }] of this.#running) if (signal.aborted) this.#end(generation);
      await this.#prepareNew();
      await this.#makeRoom();
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

  /**
   * Grows the context for the longest generation, and ends those that need more than memory allows. A context that is
   * lost ends the process, whose supervisor starts another one.
   */
  async #makeRoom(): Promise<void> {
    const active = [...this.#running.keys()].filter((each) => each.isPrepared && !each.isOver);
    if (active.every((each) => each.expectedTokens <= this.#context.size)) return;
    const { replacements } = this.#context;
    for (const generation of active.sort((a, b) => b.expectedTokens - a.expectedTokens)) {
      const { expectedTokens, requiredTokens } = generation;
      const hasRoom = (await this.#context.reserve(expectedTokens)) || (await this.#context.reserve(requiredTokens));
      const failure = hasRoom ? undefined : generation.endForMemory();
      if (failure !== undefined) this.#end(generation, failure);
    }
    if (this.#context.replacements === replacements) return;
    for (const generation of active.filter((each) => this.#running.has(each) && !each.isOver)) {
      await this.#attempt(generation, () =>
        generation.evaluateAgain((tokens) => this.#context.restoresExactly(tokens)),
      );
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
    const apart = generations.filter((generation) => generation.evaluatesApart);
    const together = generations.filter((generation) => !apart.includes(generation));
    if (together.length > 0) await this.#evaluateTogether(together);
    const [next] = apart.sort((a, b) => this.#lastApart(a) - this.#lastApart(b));
    if (next !== undefined) await this.#evaluateApart(next, together.length);
  }

  async #evaluateTogether(generations: readonly Generation[]): Promise<void> {
    const together = new Set(generations);
    const prefilling = [...this.#running.keys()].filter((each) => together.has(each) && each.promptLeft > 0);
    const needs = prefilling.map((generation) => generation.maxSlice);
    const shares = assignBudget(needs, this.#scheduler.budget(generations.length - prefilling.length)).map(
      (share, index) => adjustSlice(needs[index] as number, share),
    );
    const shareOf = new Map(prefilling.map((generation, index) => [generation, shares[index] as number]));
    // A prompt without a share waits for the next batch.
    const evaluated = generations.filter((generation) => shareOf.get(generation) !== 0);
    const items = evaluated.map((generation) => ({
      sequenceId: generation.sequenceId,
      tokens: shareOf.get(generation) ?? generation.pendingTokens,
    }));
    const paddings = this.#paddingsFor(evaluated, items);
    await this.#evaluate(
      evaluated.map((generation, index) => [
        generation,
        {
          promptTokens: shareOf.get(generation) ?? 0,
          isAlone: evaluated.length === 1,
          padding: paddings[index] ?? "none",
        },
      ]),
    );
  }

  /** Chooses the number of threads, too: one thread rounds as any number of threads does with a padding token. */
  #paddingsFor(generations: readonly Generation[], items: readonly BatchItem[]): Padding[] {
    const threads = this.#threads.current;
    this.#threads.use(threads);
    if (threads === 1) return [];
    const isLone = findLoneTokens(items);
    return generations.map((generation, index) => {
      const { tokens } = items[index] as BatchItem;
      if (isLone[index] !== true || !generation.dependsOnNeighbors(tokens)) return "none";
      if (generation.hasRoomForPadding(tokens)) return "token";
      this.#threads.use(1);
      return "none";
    });
  }

  /** Evaluates a slice of one prompt in a batch without others. */
  async #evaluateApart(generation: Generation, decoding: number): Promise<void> {
    this.#servedApart.set(generation, ++this.#turn);
    const budget = this.#scheduler.budget(decoding);
    const promptTokens = repeatableSlice(generation.maxSlice, budget, this.#batchSize);
    this.#threads.use(this.#threads.current);
    await this.#evaluate([[generation, { promptTokens, isAlone: true, padding: "none" }]]);
  }

  async #evaluate(shares: readonly (readonly [Generation, BatchShare])[]): Promise<void> {
    const before = this.#decoder.evaluatedMs;
    await Promise.all(shares.map(([generation, share]) => this.#attempt(generation, () => generation.step(share))));
    const promptTokens = shares.reduce((sum, [, share]) => sum + share.promptTokens, 0);
    this.#scheduler.record(promptTokens, this.#decoder.evaluatedMs - before);
  }

  #lastApart(generation: Generation): number {
    return this.#servedApart.get(generation) ?? 0;
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
