/** Limits the prompt tokens of a batch by how long prompt tokens have taken. */

export interface Pace {
  /** How long a batch may take while requests wait for their next tokens in it. */
  maxSharedMs: number;
  /** Assumed before the first measurement. */
  msPerToken: number;
}

export const CPU_PACE: Pace = { maxSharedMs: 100, msPerToken: 1 };
/** A GPU evaluates 64 prompts in less time than their short batches would take one after the other. */
export const GPU_PACE: Pace = { maxSharedMs: 250, msPerToken: 0.1 };

const MIN_TOKENS = 8;
/** Fewer tokens of a sequence round differently: ggml's flash attention has a kernel for tiles of 64 (`Q_TILE_SZ`). */
export const MIN_REPEATABLE_TOKENS = 64;
/** A batch with other requests' tokens takes longer than one without, which the prompt's tokens do not cause. */
const MIN_PROMPT_SHARE = 0.1;

export class PrefillScheduler {
  readonly #batchSize: number;
  readonly #pace: Pace;
  #msPerToken: number | undefined;
  /** Duration of a batch without prompt tokens. */
  #decodingMs = 0;

  constructor(batchSize: number, pace: Pace = CPU_PACE) {
    this.#batchSize = batchSize;
    this.#pace = pace;
  }

  /** Prompt tokens for this batch, at least 1. `decoding` requests get their next token in it. */
  budget(decoding: number): number {
    const room = Math.max(1, this.#batchSize - decoding);
    if (decoding === 0) return room;
    const { maxSharedMs, msPerToken } = this.#pace;
    const tokens = (maxSharedMs - this.#decodingMs) / (this.#msPerToken ?? msPerToken);
    return Math.min(room, Math.max(MIN_TOKENS, Math.floor(tokens)));
  }

  /** `milliseconds`: of the evaluation alone, because the sampling after it does not depend on the prompt's tokens. */
  record(tokens: number, milliseconds: number): void {
    if (tokens === 0) this.#decodingMs = smooth(this.#decodingMs, Math.min(milliseconds, this.#pace.maxSharedMs / 2));
    if (tokens < MIN_TOKENS) return;
    const ofPrompt = Math.max(milliseconds - this.#decodingMs, MIN_PROMPT_SHARE * milliseconds);
    this.#msPerToken = smooth(this.#msPerToken ?? ofPrompt / tokens, ofPrompt / tokens);
  }
}

/** Reacts to slowdowns at once and to speedups slowly: an oversized slice delays other requests. */
function smooth(before: number, measured: number): number {
  const weight = measured > before ? 0.7 : 0.3;
  return (1 - weight) * before + weight * measured;
}

/**
 * Assigns a token budget to prompts, which are in order of arrival: whole prompts, because ten prompts at a tenth of the
 * pace all end as late as the last one. Half of the budget goes to the oldest prompts and half to the shortest ones, so
 * that a long prompt does not delay short ones behind it.
 */
export function assignBudget(needs: readonly number[], budget: number): number[] {
  const shares = needs.map(() => 0);
  const oldest = [...needs.keys()];
  const shortest = oldest.toSorted((a, b) => (needs[a] as number) - (needs[b] as number) || a - b);
  let remaining = budget;
  const assign = (order: readonly number[], amount: number) => {
    let room = Math.min(amount, remaining);
    for (const index of order) {
      const share = Math.min((needs[index] as number) - (shares[index] as number), room);
      shares[index] = (shares[index] as number) + share;
      room -= share;
      remaining -= share;
    }
  };
  assign(oldest, Math.ceil(budget / 2));
  assign(shortest, remaining);
  return shares;
}

/** Shortens a slice that would leave fewer than `MIN_REPEATABLE_TOKENS` for the last one. */
export function adjustSlice(left: number, budget: number): number {
  const rest = left - budget;
  return rest > 0 && rest < MIN_REPEATABLE_TOKENS && budget >= 2 * MIN_REPEATABLE_TOKENS
    ? left - MIN_REPEATABLE_TOKENS
    : budget;
}

/** Tokens of a slice that is evaluated apart: about `budget`, and neither it nor the last slice is too short. */
export function repeatableSlice(left: number, budget: number, batchSize: number): number {
  const slice = Math.max(MIN_REPEATABLE_TOKENS, Math.min(budget, batchSize));
  if (left - slice >= MIN_REPEATABLE_TOKENS) return slice;
  return left <= batchSize ? left : left - MIN_REPEATABLE_TOKENS;
}
