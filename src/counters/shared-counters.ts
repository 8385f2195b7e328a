/** Counts together with other replicas through a store, and by itself, with its share of the limits, without it. */

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { withTimeout } from "../async/timeout.ts";
import { unavailable } from "../faults.ts";
import type { Logger } from "../observability/logger.ts";
import {
  type Beat,
  type CounterStore,
  LEASE_MILLISECONDS,
  type PlacedWindow,
  type StoreTaken,
} from "./counter-store.ts";
import type { Claim, Correction, Counters, CountersState, Taken, TakenReservation } from "./counters.ts";
import { OwnUse, type Share } from "./own-use.ts";

export interface SharedCountersOptions {
  store: CounterStore;
  logger: Logger;
  /** What holds while the store is away: this replica's share of the limits, no request, or every request. */
  whenAway: "share" | "refuse" | "admit";
}

const BEAT_MILLISECONDS = 1_000;
const RETRY_MILLISECONDS = 250;
/** Long enough for a process that is busy with many requests. */
const ANSWER_MILLISECONDS = 2_000;
const OPEN_MILLISECONDS = 5_000;
const WAIT_FOR_OTHERS_MILLISECONDS = 100;
const SWEEP_MILLISECONDS = 60_000;
/** One statement's worth. */
const PLACED_AT_ONCE = 100;

export class SharedCounters implements Counters {
  readonly #options: SharedCountersOptions;
  readonly #replica: string = randomUUID();
  readonly #own = new OwnUse();
  readonly #closing = new AbortController();
  readonly #living: Promise<void>;
  readonly #firstJoin = Promise.withResolvers<void>();
  readonly #sweeper: NodeJS.Timeout;
  /** What the store does not know to be begun. */
  readonly #begunAlone: Set<{ key: string; windowSeconds: number; amount: number }> = new Set();
  /** By window, and empty: those of which the store may count more than this replica has used. */
  readonly #doubtful: Map<string, PlacedWindow> = new Map();
  #isShared = false;
  #epoch = "none yet";
  #known: readonly string[] = [this.#replica];
  #reservations = 0;
  /** From this process's clock, which never goes back, to the store's. */
  #clockOffset = Date.now() - performance.now();
  #toldAway = false;

  constructor(options: SharedCountersOptions) {
    this.#options = options;
    this.#own.beginAlone(this.#now());
    options.store.onLost = (error) => this.#goAway(error);
    this.#living = this.#live();
    this.#sweeper = setInterval(() => this.#own.sweep(this.#now()), SWEEP_MILLISECONDS).unref();
  }

  get epoch(): string {
    return this.#epoch;
  }

  get state(): CountersState {
    return { isShared: this.#isShared, replicas: this.#known.length };
  }

  /** Resolves once the store was tried for the first time. */
  async tried(): Promise<void> {
    await this.#firstJoin.promise;
  }

  async take(claims: readonly Claim[]): Promise<Taken> {
    this.#reservations += 1;
    const id = String(this.#reservations);
    if (this.#isShared) {
      try {
        const taken = await answered(this.#options.store.take(this.#replica, id, claims));
        if (taken !== undefined) return this.#notice(id, claims, taken);
        this.#goAway(new Error("this replica was taken for dead, or the counts were lost"));
      } catch (error) {
        // It may have been granted all the same.
        this.#doubt(claims);
        this.#goAway(error);
      }
    }
    return this.#takeAlone(id, claims);
  }

  async settle(reservation: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    this.#own.settle(reservation, corrections, this.#now());
    if (!this.#isShared || corrections.length === 0) {
      this.#doubt(corrections);
      return;
    }
    try {
      await answered(this.#options.store.settle(this.#replica, reservation, corrections));
    } catch (error) {
      this.#doubt(corrections);
      this.#goAway(error);
    }
  }

  async begin(key: string, windowSeconds: number, amount: number): Promise<void> {
    this.#own.see([{ key, windowSeconds, limit: amount }], [amount], this.#now());
    const begun = { key, windowSeconds, amount };
    this.#begunAlone.add(begun);
    if (!this.#isShared) return;
    try {
      await answered(this.#options.store.begin(key, windowSeconds, amount));
      this.#begunAlone.delete(begun);
    } catch (error) {
      this.#goAway(error);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#sweeper);
    await this.#living;
    const { store } = this.#options;
    if (this.#isShared) await answered(store.leave(this.#replica)).catch(() => {});
    this.#isShared = false;
    await store.close();
  }

  #notice(id: string, claims: readonly Claim[], { now, used, refusal }: StoreTaken): Taken {
    const byKey = Object.fromEntries(claims.map(({ key }, index) => [key, used[index] ?? 0]));
    const { index = 0, retryAfterSeconds = 0 } = refusal ?? {};
    if (refusal !== undefined) {
      this.#own.see(claims, used, now);
      return { granted: false, key: claims[index]?.key ?? "", retryAfterSeconds, used: byKey };
    }
    const reservation = { id, takenAt: now };
    this.#own.note(claims, reservation, this.#now());
    this.#own.see(claims, used, now);
    return { granted: true, reservation, used: byKey };
  }

  #takeAlone(id: string, claims: readonly Claim[]): Taken {
    const { whenAway } = this.#options;
    if (whenAway === "refuse") {
      throw unavailable("Limits cannot be checked now. Try again in a moment.", "database_unavailable", 1);
    }
    const isUnbounded = whenAway === "admit";
    const own = isUnbounded ? claims.map((claim) => ({ ...claim, limit: Number.MAX_SAFE_INTEGER })) : claims;
    return this.#own.takeAlone(id, own, isUnbounded ? { replicas: 1, rank: 0 } : this.#share(), this.#now());
  }

  async #live(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await (this.#isShared ? this.#beat() : this.#join());
      this.#firstJoin.resolve();
      const milliseconds = this.#isShared ? BEAT_MILLISECONDS : RETRY_MILLISECONDS;
      await pause(milliseconds, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    try {
      const beat = await answered(this.#options.store.beat(this.#replica));
      if (!beat.isMember) throw new Error("this replica was taken for dead, or the counts were lost");
      this.#keepTime(beat.now);
      if (this.#isShared) this.#known = this.#idsOf(beat);
    } catch (error) {
      this.#goAway(error);
    }
  }

  /** Brings what this replica used to the store, waits until the others have done so, and counts with them again. */
  async #join(): Promise<void> {
    const { store, logger } = this.#options;
    try {
      const { now, epoch } = await answered(store.open(), OPEN_MILLISECONDS);
      this.#keepTime(now);
      // Until all count together again, each goes on with its own share, which the others must not take.
      const claimed = this.#own.claimedWindows(this.#share(), this.#now());
      this.#doubt(claimed);
      await this.#place(claimed);
      const beat = await this.#untilOthersJoined(now);
      this.#epoch = epoch;
      this.#known = this.#idsOf(beat);
      const begun = [...this.#begunAlone];
      const doubtful = [...this.#doubtful];
      const placed = Promise.all([
        ...begun.map((each) => answered(store.begin(each.key, each.windowSeconds, each.amount))),
        this.#place(this.#windowsWithDoubtful()),
      ]);
      // At once, so that what is taken from here on follows in the store.
      this.#isShared = true;
      await placed;
      for (const each of begun) this.#begunAlone.delete(each);
      // Not what came into doubt meanwhile.
      for (const [id, each] of doubtful) if (this.#doubtful.get(id) === each) this.#doubtful.delete(id);
      logger.info({ store: store.name, replicas: this.#known.length }, "counting limits with the other replicas");
      this.#toldAway = false;
    } catch (error) {
      this.#goAway(error);
    }
  }

  /** Also those in which nothing is used, since the store would go on counting what it has. */
  #windowsWithDoubtful(): PlacedWindow[] {
    const windows = new Map(this.#doubtful);
    for (const each of this.#own.windows(this.#now())) windows.set(`${each.windowSeconds} ${each.key}`, each);
    return [...windows.values()];
  }

  #doubt(windows: readonly Pick<PlacedWindow, "key" | "windowSeconds">[]): void {
    for (const { key, windowSeconds } of windows) {
      this.#doubtful.set(`${windowSeconds} ${key}`, { key, windowSeconds, slices: [] });
    }
  }

  async #place(windows: readonly PlacedWindow[]): Promise<void> {
    const { store } = this.#options;
    const sent = [];
    for (let start = 0; start < windows.length; start += PLACED_AT_ONCE) {
      sent.push(store.place(this.#replica, windows.slice(start, start + PLACED_AT_ONCE)));
    }
    sent.push(store.enter(this.#replica, this.#own.held()));
    await answered(Promise.all(sent), LEASE_MILLISECONDS);
  }

  /** Each that was there before must have been heard of since `joinedAt`, or is taken for dead. */
  async #untilOthersJoined(joinedAt: number): Promise<Beat> {
    const others = this.#known.filter((id) => id !== this.#replica);
    for (;;) {
      const beat = await answered(this.#options.store.beat(this.#replica));
      if (!beat.isMember) throw new Error("the counts were lost");
      const areAllHere = others.every((id) => (beat.replicas.get(id) ?? 0) >= joinedAt);
      if (areAllHere || beat.now - joinedAt > LEASE_MILLISECONDS || this.#closing.signal.aborted) return beat;
      await pause(WAIT_FOR_OTHERS_MILLISECONDS);
    }
  }

  #goAway(error: unknown): void {
    const { store, logger, whenAway } = this.#options;
    if (this.#isShared) this.#own.beginAlone(this.#now());
    this.#isShared = false;
    if (this.#toldAway || this.#closing.signal.aborted) return;
    this.#toldAway = true;
    const reason = error instanceof Error ? error.message : String(error);
    logger.error({ store: store.name, reason, replicas: this.#known.length, whenAway }, "shared counters are away");
  }

  #idsOf({ replicas }: Beat): string[] {
    return [...new Set([...replicas.keys(), this.#replica])].sort();
  }

  #share(): Share {
    return { replicas: this.#known.length, rank: this.#known.indexOf(this.#replica) };
  }

  #keepTime(now: number): void {
    this.#clockOffset = now - performance.now();
  }

  #now(): number {
    return performance.now() + this.#clockOffset;
  }
}

function answered<Answer>(work: Promise<Answer>, milliseconds = ANSWER_MILLISECONDS): Promise<Answer> {
  return withTimeout(work, milliseconds);
}
