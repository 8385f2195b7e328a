/**
 * Evaluates what is requested in one turn as one llama.cpp batch, in the order of the requests. Replaces the binding's
 * queue, which takes twice the main thread's time and waits for the next turn of the event loop.
 */

import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp";
import { type NativeContext, type NativeSequence, nativeContextOf, toNative } from "./native-bindings.ts";

/** Index of logits in a batch; valid until the next batch. */
export type LogitsIndex = number & { readonly __logitsIndex: unique symbol };

/** Reads the logits of the token at `offset`. */
export type ReadLogits<Result> = (index: LogitsIndex, offset: number) => Promise<Result>;

interface Evaluation {
  sequence: NativeSequence;
  tokens: readonly Token[];
  /** Offsets of the tokens whose logits are read. */
  reads: readonly number[];
  read: ReadLogits<unknown>;
  results: unknown[];
  ended: PromiseWithResolvers<unknown[]>;
}

/** Part of an evaluation that fits into a batch. */
interface Slice {
  evaluation: Evaluation;
  start: number;
  end: number;
}

export class BatchEvaluator {
  readonly #context: LlamaContext;
  readonly #batchSize: number;
  /**
   * Whether logits may be requested before the batch is evaluated: the pool's only thread reads them afterwards. Saves
   * waking both threads between the two.
   */
  readonly #readsAhead: boolean;
  #evaluatedMs = 0;
  #queue: Evaluation[] = [];
  #isScheduled = false;

  constructor(context: LlamaContext, poolThreads: number) {
    this.#context = context;
    this.#batchSize = context.batchSize;
    this.#readsAhead = poolThreads === 1;
  }

  /** Milliseconds that all batches have taken, without reading their logits. */
  get evaluatedMs(): number {
    return this.#evaluatedMs;
  }

  /** Resolves with what `read` returned for each offset in `reads`. Nothing else may use the context meanwhile. */
  evaluate<Result>(
    sequence: LlamaContextSequence,
    tokens: readonly Token[],
    reads: readonly number[],
    read: ReadLogits<Result>,
  ): Promise<Result[]> {
    if (tokens.length === 0) return Promise.resolve([]);
    const ended = Promise.withResolvers<unknown[]>();
    this.#queue.push({ sequence: toNative(sequence), tokens, reads, read, results: [], ended });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      queueMicrotask(() => void this.#evaluateQueue());
    }
    return ended.promise as Promise<Result[]>;
  }

  async #evaluateQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const batches = toBatches(this.#queue, this.#batchSize);
      this.#queue = [];
      for (const batch of batches) await this.#evaluateBatch(batch);
    }
    this.#isScheduled = false;
  }

  async #evaluateBatch(batch: readonly Slice[]): Promise<void> {
    let decoded: Promise<void>;
    let indexes: Uint32Array[];
    // Another one after each growth of the context.
    const native = nativeContextOf(this.#context);
    try {
      native.initBatch(batch.reduce((sum, { start, end }) => sum + end - start, 0));
      indexes = batch.map((slice) => addTo(native, slice));
      const startedAt = performance.now();
      decoded = native.decodeBatch().finally(() => {
        this.#evaluatedMs += performance.now() - startedAt;
      });
      if (!this.#readsAhead) await decoded;
    } catch (failure) {
      for (const { evaluation } of batch) evaluation.ended.reject(failure);
      return;
    }
    await Promise.all(batch.map((slice, index) => settle(slice, decoded, indexes[index] as Uint32Array)));
  }
}

/** Returns the indexes of the logits that the slice has. */
function addTo(native: NativeContext, { evaluation: { sequence, tokens, reads }, start, end }: Slice): Uint32Array {
  const offsets = reads.filter((offset) => offset >= start && offset < end).map((offset) => offset - start);
  return native.addToBatch(
    sequence._sequenceId,
    sequence._nextTokenIndex,
    Uint32Array.from(tokens.slice(start, end)),
    Uint32Array.from(offsets),
  );
}

/** Splits evaluations between batches of at most `batchSize` tokens. */
function toBatches(evaluations: readonly Evaluation[], batchSize: number): Slice[][] {
  const batches: Slice[][] = [[]];
  let room = batchSize;
  for (const evaluation of evaluations) {
    for (let start = 0, end = 0; start < evaluation.tokens.length; start = end) {
      if (room === 0) {
        batches.push([]);
        room = batchSize;
      }
      end = Math.min(evaluation.tokens.length, start + room);
      batches.at(-1)?.push({ evaluation, start, end });
      room -= end - start;
    }
  }
  return batches;
}

async function settle(slice: Slice, decoded: Promise<void>, indexes: Uint32Array): Promise<void> {
  const { evaluation, start, end } = slice;
  const { sequence, tokens, results, ended } = evaluation;
  const reading = readAll(slice, indexes);
  // A failed batch has no logits: only its own failure counts.
  reading.catch(() => undefined);
  try {
    await decoded;
    sequence._nextTokenIndex += end - start;
    sequence._contextTokens.push(...tokens.slice(start, end));
    results.push(...(await reading));
    if (end === tokens.length) ended.resolve(results);
  } catch (failure) {
    ended.reject(failure);
    await reading.catch(() => undefined);
  }
}

/** One after the other: a sampler may be used for several. */
async function readAll({ evaluation, start, end }: Slice, indexes: Uint32Array): Promise<unknown[]> {
  const results: unknown[] = [];
  const offsets = evaluation.reads.filter((offset) => offset >= start && offset < end);
  for (const [position, offset] of offsets.entries()) {
    results.push(await evaluation.read(indexes[position] as LogitsIndex, offset));
  }
  return results;
}
