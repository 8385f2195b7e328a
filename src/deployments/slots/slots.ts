/** A model's slots and the bounded queue before them, shared fairly between projects. */

import type { Priority } from "../../contracts/caller.ts";
import { FairQueue } from "../../kernel/async/fair-queue.ts";
import { type Fault, unavailable } from "../../kernel/faults.ts";

export interface Slot {
  /** Seconds from the request to the acquisition. */
  waitedSeconds: number;
  /** Releases the slot; safe to call twice. */
  release(): void;
}

/** Conditions under which a request that nobody waits for takes a slot. */
export interface Deferral {
  /** Undefined: interactive. */
  priority?: Priority | undefined;
  /** Ends a batch request for an interactive one; undefined: it keeps its slot. */
  preempt?: (() => void) | undefined;
}

interface Waiting {
  grant(slot: Slot): void;
  refuse(fault: Fault): void;
  /** Turn in the queue. */
  turn: string;
  deferral: Deferral;
  askedAt: number;
}

/** Upper bound of Retry-After, however slow the model was recently. */
const MAX_RETRY_AFTER_SECONDS = 60;

export class Slots {
  readonly count: number;
  /** Maximum queue length; lowering it keeps those already queued. */
  maxQueue: number;
  readonly #queue: FairQueue<Waiting>;
  /** Batch requests, which wait until no other does. */
  readonly #batchQueue: FairQueue<Waiting>;
  /** Slots that requests may hold which nobody waits for and which keep them: the last one is left to others. */
  readonly #maxDeferred: number;
  #deferred = 0;
  /** Running batch requests that can be ended, oldest first. */
  readonly #preemptible = new Set<() => void>();
  /** Whether batch requests can be ended, which is the same for all of one model. */
  #endsBatchRequests = false;
  #inUse = 0;
  #lastReleasedAt = Number.NEGATIVE_INFINITY;
  #whenIdle: (() => void) | undefined;
  /** Moving average of the seconds that a slot is held; an assumption until the first release. */
  #heldSeconds = 2;

  /** Creates slots. `count` undefined: without limit. `perProject`: maximum slots of one project. */
  constructor(count: number | undefined, maxQueue: number, perProject = Number.POSITIVE_INFINITY) {
    this.#queue = new FairQueue(perProject);
    this.#batchQueue = new FairQueue(perProject);
    this.count = count ?? Number.POSITIVE_INFINITY;
    this.#maxDeferred = Math.max(1, this.count - 1);
    this.maxQueue = maxQueue;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return this.#queue.size + this.#batchQueue.size;
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
  take(project: string, deferral: Deferral = {}): Slot | undefined {
    const turn = turnOf(project, deferral);
    if (!this.hasFree || !this.#queueOf(deferral).mayServe(turn)) return undefined;
    if (holdsSlot(deferral) && this.#deferred >= this.#maxDeferred) return undefined;
    return this.#occupy(turn, deferral, 0);
  }

  /**
   * Resolves with a slot. Throws a Fault when the queue is full, or later when a project with a shorter queue displaces
   * it, and the signal's reason when that aborts first.
   */
  async acquire(signal: AbortSignal, project: string, deferral: Deferral = {}): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.take(project, deferral);
    if (free !== undefined) return free;
    const turn = turnOf(project, deferral);
    const queue = this.#queueOf(deferral);
    this.#endsBatchRequests ||= deferral.preempt !== undefined;
    const hasPreempted = deferral.priority === undefined && queue.mayServe(turn) && this.#preempt();
    if (!hasPreempted && queue.size >= this.maxQueue) {
      const pushedOut = queue.yieldTo(turn);
      if (pushedOut === undefined) throw this.#full();
      pushedOut.refuse(this.#full());
    }
    return new Promise<Slot>((resolve, reject) => {
      const waiting: Waiting = {
        turn,
        deferral,
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
        queue.remove(turn, waiting);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      queue.add(turn, waiting);
      // Preempted before this request waited: its slot may be free already.
      if (hasPreempted && this.hasFree) this.#grantNext();
    });
  }

  /** Refuses the requests that wait. */
  refuseWaiting(fault: Fault): void {
    for (const queue of [this.#queue, this.#batchQueue]) for (const waiting of queue.takeAll()) waiting.refuse(fault);
  }

  #queueOf({ priority }: Deferral): FairQueue<Waiting> {
    return priority === "batch" ? this.#batchQueue : this.#queue;
  }

  #occupy(turn: string, deferral: Deferral, waitedSeconds: number): Slot {
    const { preempt } = deferral;
    this.#inUse += 1;
    if (holdsSlot(deferral)) this.#deferred += 1;
    if (preempt !== undefined) this.#preemptible.add(preempt);
    const queue = this.#queueOf(deferral);
    queue.served(turn);
    const enteredAt = performance.now();
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#inUse -= 1;
      if (holdsSlot(deferral)) this.#deferred -= 1;
      if (preempt !== undefined) this.#preemptible.delete(preempt);
      this.#lastReleasedAt = performance.now();
      queue.leave(turn);
      this.#heldSeconds += 0.1 * ((performance.now() - enteredAt) / 1000 - this.#heldSeconds);
      this.#grantNext();
      if (this.#inUse === 0) this.#whenIdle?.();
    };
    return { waitedSeconds, release };
  }

  #grantNext(): void {
    const mayDefer = this.#deferred < this.#maxDeferred;
    const next = this.#queue.next((turn) => mayDefer || !turn.startsWith(BACKGROUND));
    const granted = next ?? (mayDefer || this.#endsBatchRequests ? this.#batchQueue.next() : undefined);
    if (granted === undefined) return;
    const waitedSeconds = (performance.now() - granted.askedAt) / 1000;
    granted.grant(this.#occupy(granted.turn, granted.deferral, waitedSeconds));
  }

  /** Ends the batch request that began last, which loses the least work. Returns false when no batch request is running. */
  #preempt(): boolean {
    const preempt = [...this.#preemptible].at(-1);
    if (preempt === undefined) return false;
    this.#preemptible.delete(preempt);
    preempt();
    return true;
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

/** Whether a request is neither interactive nor ended for one that is. */
function holdsSlot({ priority, preempt }: Deferral): boolean {
  return priority !== undefined && preempt === undefined;
}

const BACKGROUND = "background ";

/** A project's background requests take turns of their own, so that its interactive ones do not wait behind them. */
function turnOf(project: string, { priority }: Deferral): string {
  return priority === "background" ? `${BACKGROUND}${project}` : project;
}
