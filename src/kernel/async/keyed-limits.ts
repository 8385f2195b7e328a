import pLimit, { type LimitFunction } from "p-limit";

/** Runs at most `concurrency` works at a time for each key; the others wait in their order. */
export class KeyedLimits {
  readonly #concurrency: number;
  readonly #limits = new Map<string, LimitFunction>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const limit = this.#limits.get(key) ?? pLimit(this.#concurrency);
    this.#limits.set(key, limit);
    try {
      return await limit(work);
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#limits.delete(key);
    }
  }

  /** Keys whose works run or wait. */
  get size(): number {
    return this.#limits.size;
  }
}
