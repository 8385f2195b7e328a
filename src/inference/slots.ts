/** A model's slots and the bounded queue before them, first come first served. */

import { unavailable } from "../faults.ts";

type Release = () => void;

interface Waiting {
  enter: (release: Release) => void;
}

export class Slots {
  readonly #count: number;
  readonly #maxQueue: number;
  readonly #queue: Set<Waiting> = new Set();
  #inUse = 0;
  /** Moving average of how long a slot is held; a guess until the first release. */
  #heldSeconds = 2;

  /** `count` undefined: without limit. `maxQueue` is how many may wait. */
  constructor(count: number | undefined, maxQueue: number) {
    this.#count = count ?? Number.POSITIVE_INFINITY;
    this.#maxQueue = maxQueue;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Resolves with the function that gives the slot back, which may be called twice.
   * Throws a Fault when the queue is full, and the signal's reason when it aborts first.
   */
  async acquire(signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted();
    if (this.#inUse < this.#count) return this.#enter();
    if (this.#queue.size >= this.#maxQueue) {
      throw unavailable(
        `All ${this.#count} slots of this model are busy and ${this.#queue.size} requests wait already. Try again later.`,
        "server_is_overloaded",
        this.#expectedWaitSeconds(),
      );
    }
    return new Promise<Release>((resolve, reject) => {
      const waiting: Waiting = {
        enter: (release) => {
          signal.removeEventListener("abort", leave);
          resolve(release);
        },
      };
      const leave = () => {
        this.#queue.delete(waiting);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.add(waiting);
    });
  }

  #enter(): Release {
    this.#inUse += 1;
    const enteredAt = performance.now();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#inUse -= 1;
      this.#heldSeconds += 0.1 * ((performance.now() - enteredAt) / 1000 - this.#heldSeconds);
      const [next] = this.#queue;
      if (next === undefined) return;
      this.#queue.delete(next);
      next.enter(this.#enter());
    };
  }

  #expectedWaitSeconds(): number {
    return Math.min(60, ((this.#queue.size + 1) / this.#count) * this.#heldSeconds);
  }
}
