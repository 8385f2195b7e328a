import type { Correction, CounterClaim, Taken } from "./counters.ts";
import { MovingWindow, type Slice } from "./moving-window.ts";

type WindowName = Pick<CounterClaim, "key" | "windowSeconds">;

/** Sliding windows by key, in memory. Times are in milliseconds. */
export class MovingWindows {
  readonly #windows: Map<string, { name: WindowName; window: MovingWindow }> = new Map();
  #reservations = 0;

  take(claims: readonly CounterClaim[], now: number): Taken {
    const requested = new Map<string, number>();
    const used = () => Object.fromEntries(claims.map((claim) => [claim.key, this.used(claim, now)]));
    let refusal: { key: string; retryAfterSeconds: number } | undefined;
    for (const claim of claims) {
      const window = this.#window(claim);
      const amount = (requested.get(claim.key) ?? 0) + claim.amount;
      requested.set(claim.key, amount);
      if (amount === 0 || window.used(now) + amount <= claim.limit) continue;
      // An amount above the limit never fits: report the full window as the wait.
      const fits = amount <= claim.limit;
      const retryAfterSeconds = fits ? window.secondsUntil(claim.limit - amount, now) : claim.windowSeconds;
      if (refusal === undefined || retryAfterSeconds > refusal.retryAfterSeconds) {
        refusal = { key: claim.key, retryAfterSeconds };
      }
    }
    if (refusal !== undefined) return { granted: false, ...refusal, used: used() };
    this.add(claims, now, now);
    this.#reservations += 1;
    return { granted: true, reservation: { id: String(this.#reservations), takenAt: now }, used: used() };
  }

  add(claims: readonly (WindowName & { amount: number })[], at: number, now: number): void {
    for (const claim of claims) this.#window(claim).correct(claim.amount, at, now);
  }

  correct(corrections: readonly Correction[], takenAt: number, now: number): void {
    for (const each of corrections) this.#window(each).correct(each.difference, takenAt, now);
  }

  used(name: WindowName, now: number): number {
    return this.#windows.get(idOf(name))?.window.used(now) ?? 0;
  }

  /** Slices with usage at `now`, oldest first. */
  slices(name: WindowName, now: number): readonly Slice[] {
    return this.#windows.get(idOf(name))?.window.slices(now) ?? [];
  }

  /** Windows with usage at `now`; evicts the empty ones. */
  inUse(now: number): { name: WindowName; window: MovingWindow }[] {
    for (const [id, { window }] of this.#windows) if (window.used(now) === 0) this.#windows.delete(id);
    return [...this.#windows.values()];
  }

  clear(): void {
    this.#windows.clear();
  }

  #window(name: WindowName): MovingWindow {
    const id = idOf(name);
    let window = this.#windows.get(id);
    if (window === undefined) {
      window = {
        name: { key: name.key, windowSeconds: name.windowSeconds },
        window: new MovingWindow(name.windowSeconds),
      };
      this.#windows.set(id, window);
    }
    return window.window;
  }
}

function idOf({ key, windowSeconds }: WindowName): string {
  return `${windowSeconds} ${key}`;
}
