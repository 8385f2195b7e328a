/** Lines of a batch that are to be run: new ones in order, and those to repeat once their time has come. */
export class PendingLines {
  readonly #isAnswered: (index: number) => boolean;
  readonly #count: number;
  #next = 0;
  #retries: { index: number; at: number }[] = [];
  #pausedUntil = 0;

  /** `count`: lines of the batch, of which those with `isAnswered` are left out. */
  constructor(count: number, isAnswered: (index: number) => boolean) {
    this.#count = count;
    this.#isAnswered = isAnswered;
    this.#skipAnswered();
  }

  get isEmpty(): boolean {
    return this.#next >= this.#count && this.#retries.length === 0;
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntil;
  }

  /** Takes a line that may run at `now`. */
  take(now: number): number | undefined {
    if (this.isPaused(now)) return undefined;
    const due = this.#retries.findIndex(({ at }) => at <= now);
    if (due !== -1) return this.#retries.splice(due, 1)[0]?.index;
    if (this.#next >= this.#count) return undefined;
    const index = this.#next;
    this.#next += 1;
    this.#skipAnswered();
    return index;
  }

  /** Runs a line again from `at` on. */
  retry(index: number, at: number): void {
    this.#retries.push({ index, at });
  }

  /** Starts no line before `until`: the limit or the model that refused one would refuse the next as well. */
  pause(until: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }

  #skipAnswered(): void {
    while (this.#next < this.#count && this.#isAnswered(this.#next)) this.#next += 1;
  }
}
