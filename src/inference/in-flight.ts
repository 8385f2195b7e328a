/** Where an item is; to be given back once. */
export interface Place<Item> {
  item: Item;
  at: number;
}

/**
 * What is going on at the moment. A `Set` would do, but V8 lays out a set anew every few dozen changes, and each layout
 * that it leaves behind keeps all that was in it alive until the next full collection.
 */
export class InFlight<Item> {
  readonly #places: Place<Item>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: Item): Place<Item> {
    const place = { item, at: this.#places.length };
    this.#places.push(place);
    return place;
  }

  delete({ at }: Place<Item>): void {
    const last = this.#places.pop() as Place<Item>;
    if (last.at === at) return;
    last.at = at;
    this.#places[at] = last;
  }

  *[Symbol.iterator](): Generator<Item> {
    // Of a copy, since what is gone over may leave meanwhile.
    for (const { item } of [...this.#places]) yield item;
  }
}
