/** A model's slots and the bounded queue before them, shared fairly between projects. */

import { type Fault, unavailable } from "../faults.ts";
import { FairQueue } from "./fair-queue.ts";

export interface Slot {
  /** Seconds from the request to the acquisition. */
  waitedSeconds: number;
  /** Releases the slot; safe to call twice. */
  release(): void;
}

interface Waiting {
  grant(slot: Slot): void;
  refuse(fault: Fault): void;
  project: string;
  askedAt: number;
}

/** Upper bound of Retry-After, however slow the model was recently. */
const MAX_RETRY_AFTER_SECONDS = 60;

export class Slots {
  readonly count: number;
  /** Maximum queue length; lowering it keeps those already queued. */
  maxQueue: number;
  readonly #queue: FairQueue<Waiting>;
  #inUse = 0;
  #lastReleasedAt = Number.NEGATIVE_INFINITY;
  #whenIdle: (() => void) | undefined;
  /** Moving average of the seconds that a slot is held; an assumption until the first release. */
  #heldSeconds = 2;

  /** Creates slots. `count` undefined: without limit. `perProject`: maximum slots of one project. */
  constructor(count: number | undefined, maxQueue: number, perProject = Number.POSITIVE_INFINITY) {
    this.#queue = new FairQueue(perProject);
    this.count = count ?? Number.POSITIVE_INFINITY;
    this.maxQueue = maxQueue;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Time of the last release, on the clock of `performance.now()`. */
  get lastReleasedAt(): number {
    return this.#lastReleasedAt;
  }

  get hasFree(): boolean {
    return this.#inUse < this.count;
  }

  /** Resolves once no slot is in use and the queue is empty. */
  async idle(): Promise<void> {
    if (this.#inUse === 0 && this.waiting === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  /** Takes a slot if one is free. */
  take(project: string): Slot | undefined {
    return this.hasFree && this.#queue.mayServe(project) ? this.#occupy(project, 0) : undefined;
  }

  /**
   * Resolves with a slot. Throws a Fault when the queue is full, or later when a project with a shorter queue displaces
   * it, and the signal's reason when that aborts first.
   */
  async acquire(signal: AbortSignal, project: string): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.take(project);
    if (free !== undefined) return free;
    if (this.#queue.size >= this.maxQueue) {
      const pushedOut = this.#queue.yieldTo(project);
      if (pushedOut === undefined) throw this.#full();
      pushedOut.refuse(this.#full());
    }
    return new Promise<Slot>((resolve, reject) => {
      const waiting: Waiting = {
        project,
        askedAt: performance.now(),
        grant: (slot) => {
          signal.removeEventListener("abort", leave);
          resolve(slot);
        },
        refuse: (fault) => {
          signal.removeEventListener("abort", leave);
          reject(fault);
        },
      };
      const leave = () => {
        this.#queue.remove(project, waiting);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.add(project, waiting);
    });
  }

  #occupy(project: string, waitedSeconds: number): Slot {
    this.#inUse += 1;
    this.#queue.served(project);
    const enteredAt = performance.now();
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#inUse -= 1;
      this.#lastReleasedAt = performance.now();
      this.#queue.leave(project);
      this.#heldSeconds += 0.1 * ((performance.now() - enteredAt) / 1000 - this.#heldSeconds);
      const next = this.#queue.next();
      next?.grant(this.#occupy(next.project, (performance.now() - next.askedAt) / 1000));
      if (this.#inUse === 0) this.#whenIdle?.();
    };
    return { waitedSeconds, release };
  }

  #full(): Fault {
    return unavailable(
      `All ${this.count} slots of this model are busy and ${this.#queue.size} requests wait already. Try again later.`,
      "server_is_overloaded",
      this.#expectedWaitSeconds(),
    );
  }

  /** Estimates the time to empty the queue at the recent pace. */
  #expectedWaitSeconds(): number {
    return Math.min(MAX_RETRY_AFTER_SECONDS, ((this.#queue.size + 1) / this.count) * this.#heldSeconds);
  }
}
