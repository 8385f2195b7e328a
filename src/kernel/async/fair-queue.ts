/** Queue by project: the next item belongs to the project that holds the fewest slots. */

/** Number of projects whose last turn is remembered. */
const REMEMBERED_PROJECTS = 1000;

export class FairQueue<Item> {
  readonly #maxRunning: number;
  readonly #waiting = new Map<string, Set<Item>>();
  /** Slots that each project holds. */
  readonly #held = new Map<string, number>();
  /** Order in which the projects last received a slot. */
  readonly #enteredAt = new Map<string, number>();
  #clock = 0;
  #size = 0;

  /** `maxHeld`: slots that one project may hold. */
  constructor(maxHeld: number) {
    this.#maxRunning = maxHeld;
  }

  get size(): number {
    return this.#size;
  }

  add(project: string, item: Item): void {
    const items = this.#waiting.get(project);
    if (items === undefined) this.#waiting.set(project, new Set([item]));
    else items.add(item);
    this.#size += 1;
  }

  /** Removes an item; does nothing if it has left the queue. */
  remove(project: string, item: Item): void {
    const items = this.#waiting.get(project);
    if (items?.delete(item) !== true) return;
    this.#size -= 1;
    if (items.size === 0) this.#waiting.delete(project);
  }

  /**
   * Takes the oldest item of the project that holds the fewest slots; among equals, of the least recently served one.
   * Only of projects for which `mayTake` is true.
   */
  next(mayTake: (project: string) => boolean = () => true): Item | undefined {
    let chosen: string | undefined;
    for (const project of this.#waiting.keys()) {
      if (!this.mayServe(project) || !mayTake(project)) continue;
      if (chosen === undefined || this.#isBefore(project, chosen)) chosen = project;
    }
    if (chosen === undefined) return undefined;
    const [item] = this.#waiting.get(chosen) ?? [];
    this.remove(chosen, item as Item);
    return item;
  }

  /** Takes the newest item of the project with the longest queue, if that exceeds the queue of `project` plus one. */
  yieldTo(project: string): Item | undefined {
    let longest = project;
    for (const [each, items] of this.#waiting) if (items.size > this.#lengthOf(longest)) longest = each;
    if (this.#lengthOf(longest) <= this.#lengthOf(project) + 1) return undefined;
    const newest = [...(this.#waiting.get(longest) ?? [])].at(-1) as Item;
    this.remove(longest, newest);
    return newest;
  }

  /** Takes all items. */
  takeAll(): Item[] {
    const items = [...this.#waiting.values()].flatMap((each) => [...each]);
    this.#waiting.clear();
    this.#size = 0;
    return items;
  }

  mayServe(project: string): boolean {
    return this.#runningOf(project) < this.#maxRunning;
  }

  /** Records that a project holds a slot. */
  served(project: string): void {
    this.#held.set(project, this.#runningOf(project) + 1);
    this.#clock += 1;
    this.#enteredAt.set(project, this.#clock);
    if (this.#enteredAt.size > 2 * REMEMBERED_PROJECTS) this.#forget();
  }

  leave(project: string): void {
    const runningCount = this.#runningOf(project) - 1;
    if (runningCount > 0) this.#held.set(project, runningCount);
    else this.#held.delete(project);
  }

  #forget(): void {
    const longestAgo = [...this.#enteredAt].sort(([, one], [, other]) => one - other);
    for (const [project] of longestAgo.slice(0, -REMEMBERED_PROJECTS)) this.#enteredAt.delete(project);
  }

  #isBefore(a: string, b: string): boolean {
    const difference = this.#runningOf(a) - this.#runningOf(b);
    if (difference !== 0) return difference < 0;
    return (this.#enteredAt.get(a) ?? 0) < (this.#enteredAt.get(b) ?? 0);
  }

  #runningOf(project: string): number {
    return this.#held.get(project) ?? 0;
  }

  #lengthOf(project: string): number {
    return this.#waiting.get(project)?.size ?? 0;
  }
}
