/** What this replica itself has used of each limit, and what it may use while it cannot see the others. */

import type { HeldReservation, PlacedWindow } from "./counter-store.ts";
import type { Claim, Correction, Taken, TakenReservation } from "./counters.ts";
import { SLICES } from "./moving-window.ts";
import { MovingWindows } from "./moving-windows.ts";

/** An outage ends long before a window that is longer than this does. */
const LONG_WINDOW_SECONDS = 3_600;

/** How much others may have used since they were last seen: as much as in the time before, of about this length. */
const SAMPLE_MILLISECONDS = 1_000;

/** How the replicas' counts stood when they were last seen together. */
interface Seen {
  at: number;
  limit: number;
  windowSeconds: number;
  key: string;
  used: number;
  /** What the others had used: now, and at two earlier moments. */
  others: number;
  newer: Sample;
  older: Sample;
}

interface Sample {
  at: number;
  others: number;
}

export interface Share {
  replicas: number;
  /** This replica's place among them, from 0. */
  rank: number;
}

export class OwnUse {
  readonly #windows = new MovingWindows();
  readonly #held: Map<string, { takenAt: number; claims: readonly Claim[] }> = new Map();
  readonly #seen: Map<string, Seen> = new Map();
  /** Since when this replica is alone, and how much of each limit was its own then. */
  #alone: { since: number; used: ReadonlyMap<string, number> } | undefined;

  /** What was granted to this replica by all together. */
  note(claims: readonly Claim[], { id, takenAt }: TakenReservation, now: number): void {
    this.#windows.add(claims, takenAt, now);
    this.#hold(id, takenAt, claims);
  }

  see(claims: readonly Pick<Claim, "key" | "windowSeconds" | "limit">[], used: readonly number[], at: number): void {
    for (const [index, { key, windowSeconds, limit }] of claims.entries()) {
      const id = idOf({ key, windowSeconds });
      const all = used[index] ?? 0;
      const others = Math.max(0, all - this.#windows.used({ key, windowSeconds }, at));
      const before = this.#seen.get(id);
      const sample = { at, others };
      const isRecent = before !== undefined && at - before.newer.at < SAMPLE_MILLISECONDS;
      const newer = isRecent ? before.newer : sample;
      const older = isRecent ? before.older : (before?.newer ?? sample);
      this.#seen.set(id, { at, limit, windowSeconds, key, used: all, others, newer, older });
    }
  }

  settle({ id, takenAt }: TakenReservation, corrections: readonly Correction[], now: number): void {
    this.#held.delete(id);
    this.#windows.correct(corrections, takenAt, now);
  }

  beginAlone(now: number): void {
    const used = this.#windows.inUse(now).map(({ name, window }) => [idOf(name), window.used(now)] as const);
    this.#alone = { since: now, used: new Map(used) };
  }

  takeAlone(id: string, claims: readonly Claim[], share: Share, now: number): Taken {
    const own = claims.map((claim) => ({ ...claim, limit: this.#allowance(claim, share, now) }));
    const taken = this.#windows.take(own, now);
    if (!taken.granted) return taken;
    this.#hold(id, now, claims);
    return { ...taken, reservation: { id, takenAt: now } };
  }

  /** As it is. */
  windows(now: number): PlacedWindow[] {
    return this.#windows.inUse(now).map(({ name, window }) => ({ ...name, slices: [...window.slices(now)] }));
  }

  /** As if all that this replica may use alone were used now, so that nobody else takes it meanwhile. */
  claimedWindows(share: Share, now: number): PlacedWindow[] {
    const used = this.#windows.inUse(now).map(({ name, window }) => [idOf(name), { ...name, window }] as const);
    const inUse = new Map(used);
    const isBounded = ({ limit }: Seen) => limit < Number.MAX_SAFE_INTEGER;
    const known = [...this.#seen.values()].filter((seen) => isWithin(seen, now) && isBounded(seen));
    const claimed = known.map((seen) => {
      const amount = Math.max(inUse.get(idOf(seen))?.window.used(now) ?? 0, this.#allowance(seen, share, now));
      inUse.delete(idOf(seen));
      const number = Math.floor(now / ((seen.windowSeconds * 1000) / SLICES));
      return { key: seen.key, windowSeconds: seen.windowSeconds, slices: [{ number, amount }] };
    });
    const others = [...inUse.values()].map(({ window, ...name }) => ({ ...name, slices: [...window.slices(now)] }));
    return [...claimed, ...others];
  }

  held(): HeldReservation[] {
    return [...this.#held].map(([id, { takenAt, claims }]) => ({
      id,
      claims: claims.map(({ key, windowSeconds, amount }) => {
        const sliceNumber = Math.floor(takenAt / ((windowSeconds * 1000) / SLICES));
        return { key, windowSeconds, amount, sliceNumber };
      }),
    }));
  }

  /** Forgets what has left its window. */
  sweep(now: number): void {
    this.#windows.inUse(now);
    for (const [id, seen] of this.#seen) if (!isWithin(seen, now)) this.#seen.delete(id);
  }

  /**
   * The replicas' allowances together are never more than the limit, as far as they knew of each other: within the
   * first window what they had used themselves and a share of what nobody had, and after it a share of the whole.
   */
  #allowance({ key, windowSeconds, limit }: Pick<Claim, "key" | "windowSeconds" | "limit">, share: Share, now: number) {
    const { since, used } = this.#alone ?? { since: now, used: new Map() };
    const whole = part(limit, share);
    if (now - since > windowSeconds * 1000) return whole;
    const id = idOf({ key, windowSeconds });
    const seen = this.#seen.get(id);
    const isKnown = seen !== undefined && since - seen.at <= windowSeconds * 1000;
    const usedByAll = isKnown ? seen.used + Math.max(0, seen.others - seen.older.others) : 0;
    const first = (used.get(id) ?? 0) + part(Math.max(0, limit - usedByAll), share);
    return windowSeconds > LONG_WINDOW_SECONDS ? first : Math.min(whole, first);
  }

  #hold(id: string, takenAt: number, claims: readonly Claim[]): void {
    const held = claims.filter(({ isHeld }) => isHeld);
    if (held.length > 0) this.#held.set(id, { takenAt, claims: held });
  }
}

/** Whole parts that add up to the amount. */
function part(amount: number, { replicas, rank }: Share): number {
  return Math.floor(amount / replicas) + (rank < amount % replicas ? 1 : 0);
}

function isWithin({ at, windowSeconds }: Seen, now: number): boolean {
  return now - at <= windowSeconds * 1000;
}

function idOf({ key, windowSeconds }: Pick<Claim, "key" | "windowSeconds">): string {
  return `${windowSeconds} ${key}`;
}
