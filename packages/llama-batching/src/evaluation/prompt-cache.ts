/** Restores evaluated beginnings of prompts that an earlier process, or another slot, has stored. */

import type { Token } from "node-llama-cpp";
import type { ContinuousBatcher } from "./continuous-batcher.ts";
import type { StoredBeginning } from "./generation-options.ts";
import type { GrowingContext } from "./growing-context.ts";
import type { AcquiredSequence } from "./sequence-pool.ts";
import type { StoredStates } from "./stored-states.ts";

/** Fewer are evaluated in seconds. OpenAI's API caches from as many. */
export const MIN_STORED_TOKENS = 1024;
/** Tokens that a state must save from being evaluated. */
const MIN_GAIN = 256;

export class PromptCache {
  readonly #states: StoredStates;
  readonly #batcher: Pick<ContinuousBatcher, "betweenBatches">;
  readonly #context: Pick<GrowingContext, "reserve">;

  constructor(
    states: StoredStates,
    batcher: Pick<ContinuousBatcher, "betweenBatches">,
    context: Pick<GrowingContext, "reserve">,
  ) {
    this.#states = states;
    this.#batcher = batcher;
    this.#context = context;
  }

  /** Loads a stored state into the sequence if it has evaluated more of the prompt than the sequence. */
  async restore(acquired: AcquiredSequence, prompt: readonly Token[]): Promise<AcquiredSequence> {
    const { sequence, reusedTokens } = acquired;
    if (sequence.needsCheckpoints) return acquired;
    const stored = await this.#states.find(prompt, reusedTokens + MIN_GAIN);
    if (stored === undefined) return acquired;
    const load = async (path: string) => {
      if (!(await this.#context.reserve(stored.tokens))) return acquired;
      await sequence.clearHistory();
      await sequence.loadStateFromFile(path, { acceptRisk: true }).catch(() => sequence.clearHistory());
      // The last token is always evaluated: its logits predict the first token of the answer.
      const reused = Math.min(stored.common, sequence.nextTokenIndex, prompt.length - 1);
      return { ...acquired, reusedTokens: reused, repeatableTokens: 0 };
    };
    return (await this.#states.read(stored, (path) => this.#batcher.betweenBatches(() => load(path)))) ?? acquired;
  }

  /**
   * What stores the first `tokens` of the prompt once the sequence has evaluated them; undefined where a stored state
   * has nearly all of them, or another request has evaluated them.
   */
  async beginning(
    { sequence, reusedTokens }: AcquiredSequence,
    prompt: readonly Token[],
    tokens: number,
  ): Promise<StoredBeginning | undefined> {
    if (tokens < MIN_STORED_TOKENS || sequence.needsCheckpoints) return undefined;
    const beginning = prompt.slice(0, tokens);
    const known = await this.#states.find(beginning, tokens - MIN_STORED_TOKENS);
    if (known !== undefined) await this.#states.markUsed(known);
    if (known !== undefined || tokens <= reusedTokens) return undefined;
    const store = async () => {
      if (sequence.nextTokenIndex !== tokens) return;
      await this.#states.store(beginning, async (path) => void (await sequence.saveStateToFile(path)));
    };
    return { tokens, onEvaluated: () => void this.#batcher.betweenBatches(store) };
  }

  /** Resolves once all that was stored is in its file. */
  settled(): Promise<void> {
    return this.#states.settled();
  }
}
