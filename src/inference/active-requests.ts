/** Position of an item, for its removal. */
export interface Entry<Item> {
  item: Item;
  at: number;
}

/**
 * Requests that run at the moment. A `Set` would do, but V8 rebuilds a set every few dozen changes, and each table
 * that it leaves behind keeps all that was in it alive until the next full collection.
 */
export class ActiveRequests<Item> {
  readonly #entries: Entry<Item>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  add(item: Item): Entry<Item> {
    const entry = { item, at: this.#entries.length };
    this.#entries.push(entry);
    return entry;
  }

  delete({ at }: Entry<Item>): void {
    const last = this.#entries.pop() as Entry<Item>;
    if (last.at === at) return;
    last.at = at;
    this.#entries[at] = last;
  }

  *[Symbol.iterator](): Generator<Item> {
    // Iterates over a copy, because a callback may remove items.
    for (const { item } of [...this.#entries]) yield item;
  }
}
