/**
 * Loads single values in batches: what is asked for while a batch is on its way goes with the next one. A storm of
 * questions is therefore never more than one query at a time.
 */
export class BatchLoader<Value> {
  readonly #load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #maxBatch: number;
  readonly #waiting: Map<string, PromiseWithResolvers<Value | undefined>> = new Map();
  #isLoading = false;

  constructor(maxBatch: number, load: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#maxBatch = maxBatch;
    this.#load = load;
  }

  /** Undefined when there is none. Rejects as the load of its batch does. */
  find(key: string): Promise<Value | undefined> {
    let answer = this.#waiting.get(key);
    if (answer === undefined) {
      answer = Promise.withResolvers();
      this.#waiting.set(key, answer);
    }
    if (!this.#isLoading) void this.#loadWaiting();
    return answer.promise;
  }

  async #loadWaiting(): Promise<void> {
    this.#isLoading = true;
    // Lets everything asked for in this turn into the first batch.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, this.#maxBatch);
      for (const [key] of batch) this.#waiting.delete(key);
      try {
        const found = await this.#load(batch.map(([key]) => key));
        for (const [key, answer] of batch) answer.resolve(found.get(key));
      } catch (error) {
        for (const [, answer] of batch) answer.reject(error);
      }
    }
    this.#isLoading = false;
  }
}
