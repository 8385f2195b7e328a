import type { Claim, Correction, Counters, Taken } from "./counters.ts";
import { MovingWindow } from "./moving-window.ts";

const SWEEP_EVERY_SECONDS = 60;

/** For one process alone: another's counts are not seen, and a restart begins at nothing. */
export class InMemoryCounters implements Counters {
  readonly #now: () => number;
  readonly #sweeper: NodeJS.Timeout;
  readonly #windows: Map<string, MovingWindow> = new Map();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_SECONDS * 1000).unref();
  }

  async take(claims: readonly Claim[]): Promise<Taken> {
    const now = this.#now();
    const asked = new Map<string, number>();
    let refusal: Extract<Taken, { granted: false }> | undefined;
    for (const claim of claims) {
      const window = this.#window(claim);
      const amount = (asked.get(claim.key) ?? 0) + claim.amount;
      asked.set(claim.key, amount);
      const used = window.used(now);
      if (used + amount <= claim.limit) continue;
      // More than the limit never fits: a whole window is the longest that waiting could be thought to help.
      const fits = amount <= claim.limit;
      const retryAfterSeconds = fits ? window.secondsUntil(claim.limit - amount, now) : claim.windowSeconds;
      if (refusal === undefined || retryAfterSeconds > refusal.retryAfterSeconds) {
        refusal = { granted: false, key: claim.key, used, retryAfterSeconds };
      }
    }
    if (refusal !== undefined) return refusal;
    for (const claim of claims) this.#window(claim).add(claim.amount, now);
    const used = Object.fromEntries(claims.map((claim) => [claim.key, this.#window(claim).used(now)]));
    return { granted: true, takenAt: now, used };
  }

  async adjust({ key, difference, windowSeconds, takenAt }: Correction): Promise<void> {
    this.#window({ key, windowSeconds }).correct(difference, takenAt, this.#now());
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#windows.clear();
  }

  #window({ key, windowSeconds }: Pick<Claim, "key" | "windowSeconds">): MovingWindow {
    const id = `${windowSeconds} ${key}`;
    let window = this.#windows.get(id);
    if (window === undefined) {
      window = new MovingWindow(windowSeconds);
      this.#windows.set(id, window);
    }
    return window;
  }

  /** Forgets windows that hold nothing any more, so that callers who left cost no memory. */
  #sweep(): void {
    const now = this.#now();
    for (const [id, window] of this.#windows) {
      if (window.used(now) === 0) this.#windows.delete(id);
    }
  }
}
