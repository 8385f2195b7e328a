import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp";
import { MIN_REPEATABLE_TOKENS } from "./prefill-scheduler.ts";

/**
 * How much of an earlier request's evaluation a prompt may reuse. The same tokens evaluated in batches of another shape
 * round differently; a request whose text must be reproducible reuses only what was evaluated as it would be alone.
 */
export type PrefixReuse = "none" | "repeatable" | "any";

export interface AcquiredSequence {
  /** Holds the evaluation of an earlier request; everything beyond the reused tokens must be erased. */
  sequence: LlamaContextSequence;
  /** llama.cpp's ID of the sequence: its position in the context. */
  id: number;
  /** Tokens at the beginning of the prompt that are already evaluated. */
  reusedTokens: number;
  /** How many of them were evaluated as a request alone would evaluate them. */
  repeatableTokens: number;
}

/**
 * Evaluated tokens that a request may discard for each that it reuses. Every prompt begins as the others of its template:
 * without a limit, a short question would take the sequence of a long conversation, although others are free.
 */
const MAX_DISCARDED_PER_REUSED = 8;

interface Waiting {
  enter: (sequence: LlamaContextSequence) => void;
}

/**
 * All sequences of the context, created once: after one is disposed the binding cannot create the next. Each keeps its
 * last evaluation, which saves a prompt with the same prefix from being evaluated again.
 */
export class SequencePool {
  /** Least recently used first. */
  readonly #free: LlamaContextSequence[];
  readonly #ids: ReadonlyMap<LlamaContextSequence, number>;
  readonly #waiting: Set<Waiting> = new Set();
  readonly #repeatable: WeakMap<LlamaContextSequence, number> = new WeakMap();

  constructor(context: LlamaContext) {
    this.#free = Array.from({ length: context.totalSequences }, () => context.getSequence());
    this.#ids = new Map(this.#free.map((sequence, id) => [sequence, id]));
  }

  /** All sequences, in use or free. */
  get sequences(): LlamaContextSequence[] {
    return [...this.#ids.keys()];
  }

  /** Waits for a free sequence, first come first served. Returns undefined once `signal` aborts. */
  async acquire(
    prompt: readonly Token[],
    reuse: PrefixReuse,
    signal: AbortSignal,
  ): Promise<AcquiredSequence | undefined> {
    const free = this.tryAcquire(prompt, reuse);
    if (free !== undefined) return free;
    const sequence = await this.#wait(signal);
    return sequence === undefined ? undefined : this.#toAcquired(sequence, prompt, reuse);
  }

  /**
   * Returns the free sequence that shares the longest prefix with the prompt, if any is free, without those that would
   * lose much for little; among equals one beside those in use, then the least recently used.
   */
  tryAcquire(prompt: readonly Token[], reuse: PrefixReuse): AcquiredSequence | undefined {
    const sequence = this.#removeBest(prompt, reuse);
    return sequence === undefined ? undefined : this.#toAcquired(sequence, prompt, reuse);
  }

  release(sequence: LlamaContextSequence, repeatableTokens: number): void {
    this.#repeatable.set(sequence, repeatableTokens);
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free.push(sequence);
      return;
    }
    this.#waiting.delete(next);
    next.enter(sequence);
  }

  #toAcquired(sequence: LlamaContextSequence, prompt: readonly Token[], reuse: PrefixReuse): AcquiredSequence {
    const reusedTokens = this.#reusable(sequence, prompt, reuse);
    const id = this.#ids.get(sequence) as number;
    return {
      sequence,
      id,
      reusedTokens,
      repeatableTokens: Math.min(reusedTokens, this.#repeatable.get(sequence) ?? 0),
    };
  }

  #removeBest(prompt: readonly Token[], reuse: PrefixReuse): LlamaContextSequence | undefined {
    let best: LlamaContextSequence | undefined;
    let most = { tokens: -1, neighbors: 0 };
    const free = new Set(this.#free.map((sequence) => this.#ids.get(sequence)));
    for (const sequence of this.#free) {
      const reusable = this.#reusable(sequence, prompt, reuse);
      const discarded = sequence.nextTokenIndex - reusable;
      const tokens = discarded > MAX_DISCARDED_PER_REUSED * reusable ? 0 : reusable;
      const neighbors = this.#busyNeighbors(sequence, free);
      if (tokens < most.tokens || (tokens === most.tokens && neighbors <= most.neighbors)) continue;
      best = sequence;
      most = { tokens, neighbors };
    }
    if (best !== undefined) this.#free.splice(this.#free.indexOf(best), 1);
    return best;
  }

  /** llama.cpp evaluates sequences together only if their IDs are consecutive. */
  #busyNeighbors(sequence: LlamaContextSequence, free: ReadonlySet<number | undefined>): number {
    const id = this.#ids.get(sequence) as number;
    return [id - 1, id + 1].filter((each) => each >= 0 && each < this.#ids.size && !free.has(each)).length;
  }

  #wait(signal: AbortSignal): Promise<LlamaContextSequence | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        enter: (sequence) => {
          signal.removeEventListener("abort", leave);
          resolve(sequence);
        },
      };
      const leave = () => {
        this.#waiting.delete(waiting);
        resolve(undefined);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #reusable(sequence: LlamaContextSequence, prompt: readonly Token[], reuse: PrefixReuse): number {
    // A state that cannot be truncated (recurrent, sliding window) would be evaluated again in one piece.
    if (reuse === "none" || sequence.nextTokenIndex === 0 || sequence.needsCheckpoints) return 0;
    const common = sequence.compareContextTokens([...prompt]).firstDifferentIndex;
    // The last token is always evaluated: its logits predict the first token of the answer.
    if (reuse === "any") return Math.min(common, prompt.length - 1);
    // Further choices evaluate the last token by itself.
    const end = prompt.length - 1 - MIN_REPEATABLE_TOKENS;
    return Math.max(0, Math.min(common, this.#repeatable.get(sequence) ?? 0, end));
  }
}
