import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp";
import { LEAST_REPEATABLE } from "./prefill-pace.ts";

/**
 * What of an earlier request's evaluation may be taken over. The same tokens evaluated in other batches round otherwise,
 * so a request whose text has to come out the same each time takes only what was evaluated as it would be itself.
 */
export type Reuse = "nothing" | "repeatable" | "everything";

export interface TakenSequence {
  /** What it holds beyond the reused tokens has to be erased. */
  sequence: LlamaContextSequence;
  /** Tokens at the prompt's beginning that are evaluated already. */
  reusedTokens: number;
  /** How many of them as a request alone would evaluate them. */
  repeatableTokens: number;
}

interface Waiting {
  enter: (sequence: LlamaContextSequence) => void;
}

/**
 * The context's sequences, made once: after one is disposed the next cannot be made. They keep what they evaluated last,
 * so that a prompt that begins like it need not be evaluated again.
 */
export class SequencePool {
  /** Those used longest ago first. */
  readonly #free: LlamaContextSequence[];
  readonly #waiting: Set<Waiting> = new Set();
  readonly #repeatable: WeakMap<LlamaContextSequence, number> = new WeakMap();

  constructor(context: LlamaContext) {
    this.#free = Array.from({ length: context.totalSequences }, () => context.getSequence());
  }

  /** Waits for a free one, first come first served. Undefined once `signal` aborts before there is one. */
  async take(prompt: readonly Token[], reuse: Reuse, signal: AbortSignal): Promise<TakenSequence | undefined> {
    const free = this.takeFree(prompt, reuse);
    if (free !== undefined) return free;
    const sequence = await this.#wait(signal);
    return sequence === undefined ? undefined : this.#taken(sequence, prompt, reuse);
  }

  /** The free one that knows most of the prompt, if there is any. */
  takeFree(prompt: readonly Token[], reuse: Reuse): TakenSequence | undefined {
    const sequence = this.#takeBest(prompt, reuse);
    return sequence === undefined ? undefined : this.#taken(sequence, prompt, reuse);
  }

  give(sequence: LlamaContextSequence, repeatableTokens: number): void {
    this.#repeatable.set(sequence, repeatableTokens);
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free.push(sequence);
      return;
    }
    this.#waiting.delete(next);
    next.enter(sequence);
  }

  #taken(sequence: LlamaContextSequence, prompt: readonly Token[], reuse: Reuse): TakenSequence {
    const reusedTokens = this.#reusable(sequence, prompt, reuse);
    return { sequence, reusedTokens, repeatableTokens: Math.min(reusedTokens, this.#repeatable.get(sequence) ?? 0) };
  }

  #takeBest(prompt: readonly Token[], reuse: Reuse): LlamaContextSequence | undefined {
    let best: LlamaContextSequence | undefined;
    let most = -1;
    for (const sequence of this.#free) {
      const tokens = this.#reusable(sequence, prompt, reuse);
      if (tokens <= most) continue;
      best = sequence;
      most = tokens;
    }
    if (best !== undefined) this.#free.splice(this.#free.indexOf(best), 1);
    return best;
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

  #reusable(sequence: LlamaContextSequence, prompt: readonly Token[], reuse: Reuse): number {
    // Models whose state cannot be cut (recurrent ones, sliding windows) would evaluate all of it again, in one piece.
    if (reuse === "nothing" || sequence.nextTokenIndex === 0 || sequence.needsCheckpoints) return 0;
    const common = sequence.compareContextTokens([...prompt]).firstDifferentIndex;
    // At least the last token has to be evaluated, to know what follows it.
    if (reuse === "everything") return Math.min(common, prompt.length - 1);
    return Math.max(0, Math.min(common, this.#repeatable.get(sequence) ?? 0, prompt.length - LEAST_REPEATABLE));
  }
}
