/** A context whose cache has room for the longest text so far rather than for the entire window. */

import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { LlamaContext, LlamaContextSequence } from "node-llama-cpp";
import { nativeContextOf, swapNativeContexts } from "./native-bindings.ts";
import { createStateDirectory, USABLE_SHARE } from "./state-directory.ts";

/** Tokens for each slot that a context has room for at first. */
export const INITIAL_TOKENS = 2048;
/** Sizes that llama.cpp does not round up. */
const SIZE_STEP = 256;

export interface ContextGrowth {
  /** Tokens for each slot that the context may grow to. */
  window: number;
  create: (contextSize: number) => Promise<LlamaContext>;
  /** Bytes of a context. */
  estimateBytes: (contextSize: number) => Promise<number>;
  /** Bytes that the process may still take. */
  availableBytes: () => number;
  /**
   * Tokens of the sliding window, if the model has one: a state of more tokens is restored in another order of keys, which
   * rounds differently.
   */
  slidingWindow?: number | undefined;
  /** Whether a state has a part that does not depend on its number of tokens (sliding window, recurrent layers). */
  hasFixedState?: boolean;
  /** Where states are saved while the context is replaced. Default: `/dev/shm`, else the folder of temporary files. */
  stateDirectories?: readonly string[];
}

/**
 * Begins with room for 2,048 tokens in each slot and doubles it when a request needs more: what has been evaluated is
 * saved, the context replaced by a larger one, and the states restored. The objects of the binding stay the
 * same, so that sequences remain valid; only what they refer to inside llama.cpp is another.
 */
export class GrowingContext {
  readonly #context: LlamaContext;
  readonly #growth: ContextGrowth | undefined;
  readonly #sequences: readonly LlamaContextSequence[];
  #replacements = 0;

  /** `sequences`: all of the context; `growth`: undefined for a context of one size. */
  constructor(context: LlamaContext, sequences: readonly LlamaContextSequence[], growth: ContextGrowth | undefined) {
    this.#context = context;
    this.#sequences = sequences;
    this.#growth = growth;
  }

  /** Tokens for each slot that requests may use. */
  get window(): number {
    return this.#growth?.window ?? this.#context.contextSize;
  }

  /** Tokens for each slot that there is room for now. */
  get size(): number {
    return this.#context.contextSize;
  }

  /** Number of times that the states were restored in another context. */
  get replacements(): number {
    return this.#replacements;
  }

  /** Whether a state of that many tokens is restored bit for bit. */
  restoresExactly(tokens: number): boolean {
    return tokens <= (this.#growth?.slidingWindow ?? tokens);
  }

  /**
   * Makes room for `tokens` in each slot. False: memory is short, and the context is as before. Not while a batch is
   * evaluated. Throws when the context is lost.
   */
  async reserve(tokens: number): Promise<boolean> {
    if (tokens <= this.size) return true;
    if (this.#growth === undefined || tokens > this.#growth.window) return false;
    for (const size of this.#sizesFor(tokens, this.#growth.window)) {
      if ((await this.#hasMemory(size, this.#growth)) && (await this.#replace(size, this.#growth))) return true;
    }
    return false;
  }

  /** Doubled as often as necessary; where memory is short, no more than necessary. */
  #sizesFor(tokens: number, window: number): Set<number> {
    let doubled = this.size;
    while (doubled < tokens) doubled *= 2;
    const exact = Math.ceil(tokens / SIZE_STEP) * SIZE_STEP;
    return new Set([Math.min(doubled, window), Math.min(exact, window)]);
  }

  async #hasMemory(size: number, { estimateBytes, availableBytes }: ContextGrowth): Promise<boolean> {
    const [before, after] = [await estimateBytes(this.size), await estimateBytes(size)];
    return after - before <= USABLE_SHARE * availableBytes();
  }

  async #replace(size: number, growth: ContextGrowth): Promise<boolean> {
    const { create, estimateBytes, stateDirectories } = growth;
    const used = this.#sequences.filter(({ nextTokenIndex }) => nextTokenIndex > 0);
    const usedTokens = used.reduce((sum, { nextTokenIndex }) => sum + nextTokenIndex, 0);
    const usedShare = growth.hasFixedState === true ? used.length : usedTokens / this.size;
    const stateBytes = ((await estimateBytes(this.size)) * usedShare) / this.#sequences.length;
    const directory = used.length === 0 ? undefined : await createStateDirectory(stateBytes, stateDirectories);
    if (used.length > 0 && directory === undefined) return false;
    try {
      const saved = new Map(used.map((sequence) => [sequence, join(directory as string, randomUUID())]));
      if (!(await saveAll(saved))) return false;
      const before = this.size;
      this.#replacements += 1;
      // First, so that both never take memory at once.
      await nativeContextOf(this.#context).dispose();
      const replacement = await create(size).catch(() => undefined);
      await swapNativeContexts(this.#context, replacement ?? (await create(before)));
      for (const [sequence, path] of saved) {
        await sequence.loadStateFromFile(path, { acceptRisk: true });
        await rm(path);
      }
      return replacement !== undefined;
    } finally {
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    }
  }
}

/** False where the disk is full after all. */
async function saveAll(saved: ReadonlyMap<LlamaContextSequence, string>): Promise<boolean> {
  try {
    for (const [sequence, path] of saved) await sequence.saveStateToFile(path);
    return true;
  } catch {
    return false;
  }
}
