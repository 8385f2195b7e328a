import { MINUTE_MS } from "../kernel/durations.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Correction, CounterClaim, Counters, CountersState, Taken, TakenReservation } from "./counters.ts";
import { MovingWindows } from "./moving-windows.ts";
import { OpenReservations } from "./open-reservations.ts";

const SWEEP_INTERVAL_MS = MINUTE_MS;

/** Counters of a single process: not shared with replicas and lost on restart. */
export class InMemoryCounters implements Counters {
  readonly generation = 0;
  readonly state: CountersState = { isShared: undefined, replicas: 1 };
  readonly #now: () => number;
  readonly #sweeper: Poll;
  readonly #windows = new MovingWindows();
  readonly #reserved = new OpenReservations();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweeper = new Poll(() => this.#windows.inUse(this.#now()), { everyMs: SWEEP_INTERVAL_MS });
  }

  async take(claims: readonly CounterClaim[]): Promise<Taken> {
    const outcome = this.#windows.take(claims, this.#now());
    if (outcome.granted) this.#reserved.add(outcome.reservation, claims);
    return outcome;
  }

  async settle({ id, takenAt }: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    this.#reserved.delete(id);
    this.#windows.correct(corrections, takenAt, this.#now());
  }

  async raise(key: string, windowSeconds: number, amount: number): Promise<void> {
    const name = { key, windowSeconds };
    const now = this.#now();
    const missing = amount - (this.#windows.used(name, now) - this.#reserved.sum(name));
    if (missing > 0) this.#windows.add([{ ...name, amount: missing }], now, now);
  }

  /** They are at once. */
  async settled(): Promise<void> {}

  async close(): Promise<void> {
    this.#sweeper.stop();
    this.#windows.clear();
  }
}
