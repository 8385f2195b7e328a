import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp";

export interface TakenSequence {
  sequence: LlamaContextSequence;
  /** Tokens at the prompt's beginning that are evaluated already. */
  reusedTokens: number;
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

  constructor(context: LlamaContext) {
    this.#free = Array.from({ length: context.totalSequences }, () => context.getSequence());
  }

  /** Waits for a free one, first come first served. Undefined once `signal` aborts before there is one. */
  async take(prompt: readonly Token[], mayReuse: boolean, signal: AbortSignal): Promise<TakenSequence | undefined> {
    const sequence = this.#takeFree(prompt) ?? (await this.#wait(signal));
    if (sequence === undefined) return undefined;
    try {
      const reusedTokens = mayReuse ? reusable(sequence, prompt) : 0;
      await sequence.eraseContextTokenRanges([{ start: reusedTokens, end: sequence.nextTokenIndex }]);
      return { sequence, reusedTokens };
    } catch (error) {
      this.give(sequence);
      throw error;
    }
  }

  give(sequence: LlamaContextSequence): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free.push(sequence);
      return;
    }
    this.#waiting.delete(next);
    next.enter(sequence);
  }

  #takeFree(prompt: readonly Token[]): LlamaContextSequence | undefined {
    let best: LlamaContextSequence | undefined;
    let most = -1;
    for (const sequence of this.#free) {
      const tokens = reusable(sequence, prompt);
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
}

/** At least the last token has to be evaluated, to know what follows it. */
function reusable(sequence: LlamaContextSequence, prompt: readonly Token[]): number {
  // Models whose state cannot be cut (recurrent ones, sliding windows) would evaluate all of it again, in one piece.
  if (sequence.nextTokenIndex === 0 || sequence.needsCheckpoints) return 0;
  return Math.min(sequence.compareContextTokens([...prompt]).firstDifferentIndex, prompt.length - 1);
}
