import type { Claim, Correction, Counters, CountersState, Taken, TakenReservation } from "./counters.ts";
import { MovingWindows } from "./moving-windows.ts";

const SWEEP_EVERY_MILLISECONDS = 60_000;

/** For one process alone: another's counts are not seen, and a restart begins at nothing. */
export class InMemoryCounters implements Counters {
  readonly epoch = "this process";
  readonly state: CountersState = { isShared: undefined, replicas: 1 };
  readonly #now: () => number;
  readonly #sweeper: NodeJS.Timeout;
  readonly #windows = new MovingWindows();
  readonly #begun = new Set<string>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweeper = setInterval(() => this.#windows.inUse(this.#now()), SWEEP_EVERY_MILLISECONDS).unref();
  }

  async take(claims: readonly Claim[]): Promise<Taken> {
    return this.#windows.take(claims, this.#now());
  }

  async settle({ takenAt }: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    this.#windows.correct(corrections, takenAt, this.#now());
  }

  async begin(key: string, windowSeconds: number, amount: number): Promise<void> {
    if (this.#begun.has(key)) return;
    this.#begun.add(key);
    this.#windows.add([{ key, windowSeconds, amount }], this.#now(), this.#now());
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#windows.clear();
  }
}
