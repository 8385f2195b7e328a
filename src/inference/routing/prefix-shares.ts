/** How many deployments the prompts with a common beginning need, by their share of the recent requests. */

import type { PrefixHash } from "./prefix-affinity.ts";

interface Entry {
  requests: number;
  /** Power of two. */
  groupSize: number;
}

/** Requests after which all counts are halved: what was frequent before counts less and less. */
const WINDOW = 4096;
/**
 * Deployments for a prefix, relative to those that its share of the requests would fill: with 1, more conversations
 * overflow, and 40 instead of 53 % of their later turns were cached in a simulation (decision 49).
 */
const HEADROOM = 4;

export class PrefixShares {
  /** At most `WINDOW` entries, because each counts at least one request. */
  readonly #entries = new Map<number, Entry>();
  #total = 0;

  /**
   * Counts a request. Returns a number of deployments that suffices for the prefix's share of the load, by powers of two
   * and with hysteresis: each change moves prompts to deployments that have not cached them.
   */
  count([high, low]: PrefixHash, deployments: number): number {
    // 52 bits: a safe integer.
    const prefix = (high >>> 0) * 2 ** 20 + (low >>> 12);
    const entry = this.#entries.get(prefix) ?? { requests: 0, groupSize: 1 };
    entry.requests += 1;
    this.#entries.set(prefix, entry);
    this.#total += 1;
    // Until the first window is half full, a share would be an extrapolation from few requests.
    const share = entry.requests / Math.max(this.#total, WINDOW / 2);
    const needed = HEADROOM * share * deployments;
    while (entry.groupSize < needed) entry.groupSize *= 2;
    while (entry.groupSize > 1 && entry.groupSize > 4 * needed) entry.groupSize /= 2;
    if (this.#total >= WINDOW) this.#halve();
    return entry.groupSize;
  }

  #halve(): void {
    this.#total /= 2;
    for (const [prefix, entry] of this.#entries) {
      entry.requests = Math.floor(entry.requests / 2);
      if (entry.requests === 0) this.#entries.delete(prefix);
    }
  }
}
