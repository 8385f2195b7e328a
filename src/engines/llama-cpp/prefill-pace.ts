/** How many prompt tokens one batch may take, from how long they took so far. */

/** While others wait for their next token. */
const SHARED_MS = 120;
/** While nobody does: an abandoned request frees its slot only between batches. */
const ALONE_MS = 1000;
const LEAST_TOKENS = 16;

export class PrefillPace {
  readonly #batchSize: number;
  #msPerToken: number | undefined;

  constructor(batchSize: number) {
    this.#batchSize = batchSize;
  }

  /** Tokens for this batch, at least 1; `decoding` is how many other requests get their next token in it. */
  budget(decoding: number): number {
    const room = Math.max(1, this.#batchSize - decoding);
    const expected = this.#msPerToken ?? 1;
    if (decoding > 0) return Math.min(room, Math.max(LEAST_TOKENS, Math.floor(SHARED_MS / expected)));
    // Powers of two: the same prompt is then cut alike each time, and the same cuts give the same numbers.
    const affordable = 2 ** Math.floor(Math.log2(Math.max(LEAST_TOKENS, ALONE_MS / expected)));
    return Math.min(room, affordable);
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
