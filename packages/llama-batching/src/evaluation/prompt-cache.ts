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
/** Tokens of a state that may be read for each of them: all of it is read, also where a part is of use. */
const MAX_READ = 16;

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
  async restore(acquired: AcquiredSequence, prompt: readonly Token[], signal: AbortSignal): Promise<AcquiredSequence> {
    const { sequence, reusedTokens } = acquired;
    if (sequence.needsCheckpoints) return acquired;
    const stored = await this.#states.find(
      prompt,
      ({ common, tokens }) => common - reusedTokens >= Math.max(MIN_GAIN, tokens / MAX_READ),
    );
    if (stored === undefined) return acquired;
    const load = async (path: string) => {
      if (signal.aborted || !(await this.#context.reserve(stored.tokens))) return acquired;
      await sequence.clearHistory();
      await sequence.loadStateFromFile(path, { acceptRisk: true }).catch(() => sequence.clearHistory());
      // The last token is always evaluated: its logits predict the first token of the answer.
      const reused = Math.min(stored.common, sequence.nextTokenIndex, prompt.length - 1);
      return { ...acquired, reusedTokens: reused, repeatableTokens: 0 };
    };
    const restored = await this.#states.read(stored, signal, (path) => this.#batcher.betweenBatches(() => load(path)));
    return restored ?? acquired;
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
    const match = await this.#states.find(
      beginning,
      (state) => state.common > tokens - MIN_STORED_TOKENS && state.common >= state.tokens / MAX_READ,
    );
    if (match !== undefined) await this.#states.markUsed(match);
    if (match !== undefined || tokens <= reusedTokens) return undefined;
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
