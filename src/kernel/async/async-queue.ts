/**
 * An unbounded queue between a writer that must not wait and one reader, such as messages of another process and the
 * client that they are for. Callers bound what is pushed.
 */
export class AsyncQueue<Item> {
  #items: Item[] = [];
  #end: { failure: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** With a failure, the reader throws it after the items that were pushed before. Later calls change nothing. */
  end(failure?: unknown): void {
    this.#end ??= { failure };
    this.#wake?.();
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  async *read(): AsyncGenerator<Item, void> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#end !== undefined) {
        if (this.#end.failure !== undefined) throw this.#end.failure;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
