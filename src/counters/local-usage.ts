/** This replica's own usage of each limit, and its share of the limits while the store is unavailable. */

import { HOUR_SECONDS } from "../kernel/durations.ts";
import type { OpenReservation, ReservedAmount, WindowSnapshot } from "./counter-store.ts";
import type { Correction, CounterClaim, Taken, TakenReservation } from "./counters.ts";
import { sliceNumber } from "./moving-window.ts";
import { MovingWindows } from "./moving-windows.ts";
import { OpenReservations } from "./open-reservations.ts";

/** Longer windows outlast an outage: their share is never reset to a part of the full limit. */
const LONG_WINDOW_SECONDS = HOUR_SECONDS;

/** Interval over which the other replicas' usage is sampled, to extrapolate it during an outage. */
const SAMPLE_MS = 1_000;

/** One statement has the share of so many, for which the store works some hundredths of a second. */
const MAX_SHARED_LIMITS = 2_000;

/** Shared count of a limit when the store last reported it. */
interface Seen {
  at: number;
  limit: number;
  windowSeconds: number;
  key: string;
  used: number;
  /** Usage of the other replicas: now, and at two earlier samples. */
  others: number;
  newer: Sample;
  older: Sample;
  /** What all replicas have used at least, as records said that were read since, in the isolation that began then. */
  recorded?: { amount: number; since: number | undefined };
}

interface Sample {
  at: number;
  others: number;
}

export interface Share {
  replicas: number;
  /** Index of this replica among them, from 0. */
  rank: number;
}

export class LocalUsage {
  readonly #windows = new MovingWindows();
  readonly #reserved = new OpenReservations();
  readonly #seen: Map<string, Seen> = new Map();
  /** When this replica lost the store, and its own usage of each limit at that time. */
  #isolation: { since: number; used: ReadonlyMap<string, number> } | undefined;

  /** Records what the store granted to this replica. */
  note(claims: readonly CounterClaim[], reservation: TakenReservation, now: number): void {
    this.#windows.add(claims, reservation.takenAt, now);
    this.#reserved.add(reservation, claims);
  }

  see(
    claims: readonly Pick<CounterClaim, "key" | "windowSeconds" | "limit">[],
    used: readonly number[],
    at: number,
  ): void {
    for (const [index, { key, windowSeconds, limit }] of claims.entries()) {
      const id = idOf({ key, windowSeconds });
      const all = used[index] ?? 0;
      const others = Math.max(0, all - this.#windows.used({ key, windowSeconds }, at));
      const before = this.#seen.get(id);
      const sample = { at, others };
      const isRecent = before !== undefined && at - before.newer.at < SAMPLE_MS;
      const newer = isRecent ? before.newer : sample;
      const older = isRecent ? before.older : (before?.newer ?? sample);
      this.#seen.set(id, { at, limit, windowSeconds, key, used: all, others, newer, older });
    }
  }

  /**
   * Adds to the last reading of a limit what records say that all replicas have used: once in an isolation, since what
   * they use from then on is their share.
   */
  noteRecorded(name: Pick<CounterClaim, "key" | "windowSeconds">, amount: number, now: number): void {
    if (!this.#seen.has(idOf(name))) this.see([{ ...name, limit: amount }], [amount], now);
    const reading = this.#seen.get(idOf(name)) as Seen;
    const since = this.#isolation?.since;
    if (reading.recorded === undefined || reading.recorded.since !== since) reading.recorded = { amount, since };
  }

  settle({ id, takenAt }: TakenReservation, corrections: readonly Correction[], now: number): void {
    this.#reserved.delete(id);
    this.#windows.correct(corrections, takenAt, now);
  }

  startLocalShares(now: number): void {
    const used = this.#windows.inUse(now).map(({ name, window }) => [idOf(name), window.used(now)] as const);
    this.#isolation = { since: now, used: new Map(used) };
  }

  takeFromLocalShare(id: string, claims: readonly CounterClaim[], share: Share, now: number): Taken {
    const localClaims = claims.map((claim) => ({ ...claim, limit: this.#allowance(claim, share, now) }));
    const outcome = this.#windows.take(localClaims, now);
    if (!outcome.granted) return outcome;
    const reservation = { id, takenAt: now };
    this.#reserved.add(reservation, claims);
    return { ...outcome, reservation };
  }

  /** Windows in which this replica has used something. */
  inUse(now: number): Pick<CounterClaim, "key" | "windowSeconds">[] {
    return this.#windows.inUse(now).map(({ name }) => name);
  }

  /** What this replica has used, oldest first. */
  usage(name: Pick<CounterClaim, "key" | "windowSeconds">, now: number): Pick<WindowSnapshot, "slices" | "reserved"> {
    return { slices: this.#windows.slices(name, now), reserved: this.#reserved.sum(name) };
  }

  /**
   * What this replica may still use of its local share, which others must not take while it rejoins. The limits beyond
   * the bound, which were used least recently, it may use meanwhile as others do.
   */
  unusedShare(share: Share, now: number): ReservedAmount[] {
    const isBounded = ({ limit }: Seen) => limit < Number.MAX_SAFE_INTEGER;
    const lastReadings = [...this.#seen.values()].filter((seen) => isWithin(seen, now) && isBounded(seen));
    const latest = lastReadings.sort((a, b) => b.at - a.at).slice(0, MAX_SHARED_LIMITS);
    const unused = latest.map((seen) => {
      const amount = this.#allowance(seen, share, now) - this.#windows.used(seen, now);
      return reserve({ ...seen, amount }, now);
    });
    return unused.filter(({ amount }) => amount > 0);
  }

  reserved(): OpenReservation[] {
    return this.#reserved.entries().map(({ id, takenAt, claims }) => ({
      id,
      claims: claims.map((claim) => reserve(claim, takenAt)),
    }));
  }

  /** Evicts usage that has left its window. */
  sweep(now: number): void {
    this.#windows.inUse(now);
    for (const [id, seen] of this.#seen) if (!isWithin(seen, now)) this.#seen.delete(id);
  }

  /**
   * Local limit while isolated. The replicas' allowances add up to at most the limit: during the first window each gets
   * its own usage plus a share of what was free, afterwards a share of the full limit.
   */
  #allowance(
    { key, windowSeconds, limit }: Pick<CounterClaim, "key" | "windowSeconds" | "limit">,
    share: Share,
    now: number,
  ) {
    const { since, used } = this.#isolation ?? { since: now, used: new Map() };
    const fullShare = part(limit, share);
    if (now - since > windowSeconds * 1000) return fullShare;
    const id = idOf({ key, windowSeconds });
    const reading = this.#seen.get(id);
    const isKnown = reading !== undefined && since - reading.at <= windowSeconds * 1000;
    const usedByAll = isKnown ? usedByAllIn(reading) : 0;
    const first = (used.get(id) ?? 0) + part(Math.max(0, limit - usedByAll), share);
    return windowSeconds > LONG_WINDOW_SECONDS ? first : Math.min(fullShare, first);
  }
}

/** What the others used between the last two samples, they are expected to have used again. */
function usedByAllIn({ used, others, older, recorded }: Seen): number {
  return Math.max(used + Math.max(0, others - older.others), recorded?.amount ?? 0);
}

/** Splits an amount into integer parts that add up to it. */
function part(amount: number, { replicas, rank }: Share): number {
  return Math.floor(amount / replicas) + (rank < amount % replicas ? 1 : 0);
}

function reserve({ key, windowSeconds, amount }: Omit<ReservedAmount, "sliceNumber">, at: number): ReservedAmount {
  return { key, windowSeconds, amount, sliceNumber: sliceNumber(at, windowSeconds) };
}

function isWithin({ at, windowSeconds }: Seen, now: number): boolean {
  return now - at <= windowSeconds * 1000;
}

function idOf({ key, windowSeconds }: Pick<CounterClaim, "key" | "windowSeconds">): string {
  return `${windowSeconds} ${key}`;
}
