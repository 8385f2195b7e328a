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
  /** By key, until when: what it began with has left its window then. */
  readonly #begun = new Map<string, number>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MILLISECONDS).unref();
  }

  async take(claims: readonly Claim[]): Promise<Taken> {
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

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#windows.clear();
    this.#begun.clear();
  }

  #sweep(): void {
    const now = this.#now();
    this.#windows.inUse(now);
    for (const [key, until] of this.#begun) if (until <= now) this.#begun.delete(key);
  }
}
