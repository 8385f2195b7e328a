/** Who waits, by project: the next one belongs to the project that is served least at the moment. */

export class FairQueue<Item> {
  /** The project that was served longest ago first. */
  readonly #waiting = new Map<string, Set<Item>>();
  readonly #served = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(project: string, item: Item): void {
    const items = this.#waiting.get(project);
    if (items === undefined) this.#waiting.set(project, new Set([item]));
    else items.add(item);
    this.#size += 1;
  }

  /** Does nothing when it is not there any more. */
  remove(project: string, item: Item): void {
    const items = this.#waiting.get(project);
    if (items?.delete(item) !== true) return;
    this.#size -= 1;
    if (items.size === 0) this.#waiting.delete(project);
  }

  /** Takes the oldest of the project with the fewest `served`; among equals, of the one that was served longest ago. */
  next(): Item | undefined {
    let chosen: string | undefined;
    for (const project of this.#waiting.keys()) {
      if (chosen === undefined || this.#servedOf(project) < this.#servedOf(chosen)) chosen = project;
    }
    if (chosen === undefined) return undefined;
    const items = this.#waiting.get(chosen) as Set<Item>;
    const [item] = items;
    this.remove(chosen, item as Item);
    if (items.size > 0) {
      this.#waiting.delete(chosen);
      this.#waiting.set(chosen, items);
    }
    return item;
  }

  /** Takes the newest of the project with the most waiting, when that is more than `project` would have with one more. */
  yieldTo(project: string): Item | undefined {
    let longest = project;
    for (const [each, items] of this.#waiting) if (items.size > this.#lengthOf(longest)) longest = each;
    if (this.#lengthOf(longest) <= this.#lengthOf(project) + 1) return undefined;
    const newest = [...(this.#waiting.get(longest) ?? [])].at(-1) as Item;
    this.remove(longest, newest);
    return newest;
  }

  /** Tells that a project holds a slot from now on. */
  enter(project: string): void {
    this.#served.set(project, this.#servedOf(project) + 1);
  }

  leave(project: string): void {
    const left = this.#servedOf(project) - 1;
    if (left > 0) this.#served.set(project, left);
    else this.#served.delete(project);
  }

  #servedOf(project: string): number {
    return this.#served.get(project) ?? 0;
  }

  #lengthOf(project: string): number {
    return this.#waiting.get(project)?.size ?? 0;
  }
}
