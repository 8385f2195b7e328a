import { MINUTE_MS } from "../kernel/durations.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Correction, CounterClaim, Counters, CountersState, Taken, TakenReservation } from "./counters.ts";
import { MovingWindows } from "./moving-windows.ts";

const SWEEP_INTERVAL_MS = MINUTE_MS;

/** Counters of a single process: not shared with replicas and lost on restart. */
export class InMemoryCounters implements Counters {
  readonly epoch = "this process";
  readonly outage = 0;
  readonly state: CountersState = { isShared: undefined, replicas: 1 };
  readonly #now: () => number;
  readonly #sweeper: Poll;
  readonly #windows = new MovingWindows();
  /** Time at which the initial amount leaves its window, by key. */
  readonly #begun = new Map<string, number>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweeper = new Poll(() => this.#sweep(), { everyMs: SWEEP_INTERVAL_MS });
  }

  async take(claims: readonly CounterClaim[]): Promise<Taken> {
    return this.#windows.take(claims, this.#now());
  }

  async settle({ takenAt }: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    this.#windows.correct(corrections, takenAt, this.#now());
  }

  async begin(key: string, windowSeconds: number, amount: number): Promise<void> {
    const now = this.#now();
    if ((this.#begun.get(key) ?? now) > now) return;
    this.#begun.set(key, now + windowSeconds * 1000);
    this.#windows.add([{ key, windowSeconds, amount }], now, now);
  }

  /** There are no other replicas. */
  async noteUsed(): Promise<void> {}

  async close(): Promise<void> {
    this.#sweeper.stop();
    this.#windows.clear();
    this.#begun.clear();
  }

  #sweep(): void {
    const now = this.#now();
    this.#windows.inUse(now);
    for (const [key, until] of this.#begun) if (until <= now) this.#begun.delete(key);
  }
}
