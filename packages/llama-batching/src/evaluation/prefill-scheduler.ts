/** Limits the prompt tokens of a batch by how long prompt tokens have taken. */

/** How long a slice may delay the next token of other requests. */
const MAX_SHARED_MS = 100;
const MIN_TOKENS = 8;
/** Fewer tokens of a sequence round differently: ggml's flash attention has a kernel for tiles of 64 (`Q_TILE_SZ`). */
export const MIN_REPEATABLE_TOKENS = 64;

export class PrefillScheduler {
  readonly #batchSize: number;
  #msPerToken: number | undefined;

  constructor(batchSize: number) {
    this.#batchSize = batchSize;
  }

  /** Prompt tokens for this batch, at least 1. `decoding` requests get their next token in it. */
  budget(decoding: number): number {
    const room = Math.max(1, this.#batchSize - decoding);
    if (decoding === 0) return room;
    return Math.min(room, Math.max(MIN_TOKENS, Math.floor(MAX_SHARED_MS / (this.#msPerToken ?? 1))));
  }

  record(tokens: number, milliseconds: number): void {
    if (tokens < MIN_TOKENS) return;
    const measured = milliseconds / tokens;
    const before = this.#msPerToken ?? measured;
    // Reacts to slowdowns at once and to speedups slowly: an oversized slice delays other requests.
    const weight = measured > before ? 0.7 : 0.3;
    this.#msPerToken = (1 - weight) * before + weight * measured;
  }
}

/** Splits a token budget evenly; what one does not need goes to the others. */
export function splitBudget(needs: readonly number[], budget: number): number[] {
  const shares = needs.map(() => 0);
  let left = budget;
  const order = needs.map((_, index) => index).toSorted((a, b) => (needs[a] as number) - (needs[b] as number));
  order.forEach((index, position) => {
    const share = Math.min(needs[index] as number, Math.ceil(left / (order.length - position)));
    shares[index] = share;
    left -= share;
  });
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
