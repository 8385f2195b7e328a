/** How many prompt tokens one batch may take, from how long they took so far. */

/** How long others may wait for their next token. */
const SHARED_MS = 100;
const LEAST_TOKENS = 8;
/** Attention over fewer tokens at once rounds otherwise. */
export const LEAST_REPEATABLE = 64;

export class PrefillPace {
  readonly #batchSize: number;
  #msPerToken: number | undefined;

  constructor(batchSize: number) {
    this.#batchSize = batchSize;
  }

  /** Tokens for this batch, at least 1; `decoding` is how many other requests get their next token in it. */
  budget(decoding: number): number {
    const room = Math.max(1, this.#batchSize - decoding);
    if (decoding === 0) return room;
    return Math.min(room, Math.max(LEAST_TOKENS, Math.floor(SHARED_MS / (this.#msPerToken ?? 1))));
  }

  record(tokens: number, milliseconds: number): void {
    if (tokens < LEAST_TOKENS) return;
    const measured = milliseconds / tokens;
    const before = this.#msPerToken ?? measured;
    // Slower at once, faster with care: others wait for a slice that is too large.
    const weight = measured > before ? 0.7 : 0.3;
    this.#msPerToken = (1 - weight) * before + weight * measured;
  }
}

/** Shares a budget of tokens evenly; who needs less than a share leaves the rest to the others. */
export function shareTokens(needs: readonly number[], budget: number): number[] {
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

/** How much of a budget to use so that no slice of a longer text is too short to round like the others. */
export function cutSlice(left: number, budget: number): number {
  const rest = left - budget;
  return rest > 0 && rest < LEAST_REPEATABLE && budget >= 2 * LEAST_REPEATABLE ? left - LEAST_REPEATABLE : budget;
}
