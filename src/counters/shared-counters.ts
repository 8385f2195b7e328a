/** Counts with other replicas through a store, and locally with a share of the limits while it is unavailable. */

import { MINUTE_MS } from "../kernel/durations.ts";
import { unavailable } from "../kernel/faults.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Logger } from "../kernel/logger.ts";
import type { CounterStore, Joining, StoreTaken } from "./counter-store.ts";
import type { Correction, CounterClaim, Counters, CountersState, Taken, TakenReservation } from "./counters.ts";
import { LocalUsage } from "./local-usage.ts";
import { type ReplicaCount, ReplicaSet } from "./replica-set.ts";
import { storeAnswer, UnconfirmedCounts } from "./unconfirmed-counts.ts";
import { waitForReplicas } from "./wait-for-replicas.ts";

export interface SharedCountersOptions {
  store: CounterStore;
  logger: Logger;
  /** While the store is unavailable: enforce this replica's share of the limits, refuse or admit every request. */
  onStoreUnavailable: "share" | "refuse" | "admit";
  /** False where the store is the service's database, whose failure at startup is logged already. */
  logsFirstFailure?: boolean;
  replicaCount?: ReplicaCount;
}

const HEARTBEAT_MS = 1_000;
const RETRY_MS = 250;
const OPEN_TIMEOUT_MS = 5_000;
const SWEEP_INTERVAL_MS = MINUTE_MS;

const NOT_SHARING = "the lease of this replica expired or the store lost its counts";

const MEANWHILE = {
  share: "each replica enforces its share of every limit",
  refuse: "limited requests get a 503",
  admit: "requests are not limited",
};

export class SharedCounters implements Counters {
  readonly #options: SharedCountersOptions;
  readonly #replicas: ReplicaSet;
  readonly #local = new LocalUsage();
  readonly #closing = new AbortController();
  readonly #membership: Poll;
  readonly #firstJoin = Promise.withResolvers<void>();
  readonly #sweeper: Poll;
  readonly #unconfirmed: UnconfirmedCounts;
  #beforeReturn: () => Promise<unknown> = async () => {};
  readonly #settling: Set<Promise<unknown>> = new Set();
  #isShared = false;
  /** From the moment at which a rejoin reaches the store, which is before it shares. */
  #isConnected = false;
  #generation = 0;
  #joins: number | undefined;
  #hasCountedAlone = false;
  #reservations = 0;
  /** Offset from this process's monotonic clock to the store's clock. */
  #clockOffset = Date.now() - performance.now();
  #hasLoggedOutage: boolean;

  constructor(options: SharedCountersOptions) {
    this.#options = options;
    this.#replicas = new ReplicaSet(options.replicaCount);
    this.#unconfirmed = new UnconfirmedCounts(options.store, this.#replicas.id);
    this.#hasLoggedOutage = options.logsFirstFailure === false;
    this.#local.startLocalShares(this.#now());
    const expected = this.#replicas.readExpected();
    const keepMembership = async () => {
      await expected;
      await (this.#isShared ? this.#heartbeat() : this.#rejoin());
      this.#firstJoin.resolve();
    };
    const everyMs = () => (this.#isShared ? HEARTBEAT_MS : RETRY_MS);
    this.#membership = new Poll(keepMembership, { everyMs });
    void this.#membership.run();
    this.#sweeper = new Poll(() => this.#local.sweep(this.#now()), { everyMs: SWEEP_INTERVAL_MS });
  }

  get generation(): number {
    return this.#generation;
  }

  get state(): CountersState {
    return { isShared: this.#isShared, replicas: this.#replicas.size };
  }

  /** Resolves after the first attempt to reach the store. */
  async firstAttempt(): Promise<void> {
    await this.#firstJoin.promise;
  }

  /** Calls `work` whenever the store can be reached again, before any replica counts with it. */
  beforeReturn(work: () => Promise<unknown>): void {
    this.#beforeReturn = work;
  }

  async take(claims: readonly CounterClaim[]): Promise<Taken> {
    this.#reservations += 1;
    const id = String(this.#reservations);
    if (this.#isShared) {
      try {
        const outcome = await storeAnswer(this.#options.store.take(this.#replicas.id, id, claims));
        if (outcome !== undefined) return this.#applyTaken(id, claims, outcome);
        this.#useLocalShare(new Error(NOT_SHARING));
      } catch (error) {
        // The store may have granted it before the error.
        this.#unconfirmed.addWindows(claims);
        this.#useLocalShare(error);
      }
    }
    return this.#takeFromLocalShare(id, claims);
  }

  async settle(reservation: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    this.#local.settle(reservation, corrections, this.#now());
    if (!this.#isShared || corrections.length === 0) {
      this.#unconfirmed.addWindows(corrections, reservation.takenAt);
      this.#hasCountedAlone ||= corrections.length > 0;
      return;
    }
    const settling = storeAnswer(this.#options.store.settle(this.#replicas.id, reservation, corrections));
    this.#settling.add(settling);
    try {
      await settling;
    } catch (error) {
      this.#unconfirmed.addWindows(corrections);
      this.#useLocalShare(error);
    } finally {
      this.#settling.delete(settling);
    }
  }

  async raise(key: string, windowSeconds: number, amount: number): Promise<void> {
    this.#local.noteRecorded({ key, windowSeconds }, amount, this.#now());
    if (!this.#isShared) return;
    try {
      await storeAnswer(this.#options.store.raise(key, windowSeconds, amount));
    } catch (error) {
      this.#useLocalShare(error);
    }
  }

  async settled(): Promise<unknown> {
    return await Promise.allSettled(this.#settling);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#sweeper.stop();
    await this.#membership.close();
    const { store } = this.#options;
    // Without an answer, the lease releases the reservations.
    if (this.#isShared) await storeAnswer(store.leave(this.#replicas.id)).catch(() => {});
    this.#isShared = false;
    await store.close();
  }

  #applyTaken(id: string, claims: readonly CounterClaim[], { now, used, refusal }: StoreTaken): Taken {
    const byKey = Object.fromEntries(claims.map(({ key }, index) => [key, used[index] ?? 0]));
    const { index = 0, retryAfterSeconds = 0 } = refusal ?? {};
    if (refusal !== undefined) {
      this.#local.see(claims, used, now);
      return { granted: false, key: claims[index]?.key ?? "", retryAfterSeconds, used: byKey };
    }
    const reservation = { id, takenAt: now };
    this.#local.note(claims, reservation, this.#now());
    this.#local.see(claims, used, now);
    return { granted: true, reservation, used: byKey };
  }

  #takeFromLocalShare(id: string, claims: readonly CounterClaim[]): Taken {
    const { onStoreUnavailable } = this.#options;
    if (onStoreUnavailable === "refuse") {
      throw unavailable(
        "Rate limits cannot be checked because the counter store is unavailable. Try again in a moment.",
        "database_unavailable",
        1,
      );
    }
    const isUnbounded = onStoreUnavailable === "admit";
    const local = isUnbounded ? claims.map((claim) => ({ ...claim, limit: Number.MAX_SAFE_INTEGER })) : claims;
    const share = isUnbounded ? { replicas: 1, rank: 0 } : this.#replicas.share;
    const now = this.#now();
    const taken = this.#local.takeFromLocalShare(id, local, share, now);
    if (taken.granted) {
      this.#unconfirmed.addWindows(claims, now);
      this.#hasCountedAlone = true;
    }
    return taken;
  }

  async #heartbeat(): Promise<void> {
    try {
      const heartbeat = await storeAnswer(this.#options.store.heartbeat(this.#replicas.id));
      if (heartbeat.replicas.get(this.#replicas.id)?.state !== "sharing") throw new Error(NOT_SHARING);
      this.#syncClock(heartbeat.now);
      if (!this.#isShared) return;
      this.#replicas.update(heartbeat);
      if (heartbeat.joins > (this.#joins ?? 0)) this.#generation += 1;
      this.#joins = heartbeat.joins;
    } catch (error) {
      this.#useLocalShare(error);
    }
  }

  /** Restores this replica's usage in the store, waits until the other replicas have too, and shares counters again. */
  async #rejoin(): Promise<void> {
    const { store, logger } = this.#options;
    const { id } = this.#replicas;
    const usageIn = (window: Pick<CounterClaim, "key" | "windowSeconds">) => this.#local.usage(window, this.#now());
    // Failures concern what the replica does meanwhile, too.
    const renewLease = () => store.heartbeat(id).catch(() => {});
    const lease = new Poll(() => (this.#isConnected ? renewLease() : undefined), { everyMs: HEARTBEAT_MS });
    try {
      const { now, epoch } = await storeAnswer(
        store.open((error) => this.#useLocalShare(error)),
        OPEN_TIMEOUT_MS,
      );
      this.#syncClock(now);
      await storeAnswer(store.announce(id));
      this.#isConnected = true;
      // A failure concerns what is recorded, not the store.
      await storeAnswer(this.#beforeReturn(), OPEN_TIMEOUT_MS).catch(() => {});
      // Until all replicas have rejoined, each keeps using its share, which the others must not take.
      const share = this.#local.unusedShare(this.#replicas.share, this.#now());
      const reserved = this.#local.reserved();
      this.#unconfirmed.addWindows(this.#local.inUse(this.#now()));
      await this.#unconfirmed.restoreMost(usageIn);
      await this.#unconfirmed.restoreRest(usageIn);
      const join = async (joining: Pick<Joining, "state" | "reserved" | "share">) => {
        const hasCounted = this.#hasCountedAlone;
        const joins = await storeAnswer(store.join(id, { epoch, hasCounted, ...joining }), OPEN_TIMEOUT_MS);
        if (joins === undefined) throw new Error("the store lost its counts while this replica rejoined");
        return joins;
      };
      await join({ state: "restored", reserved, share });
      const heartbeat = await waitForReplicas(store, this.#replicas, now, this.#closing.signal);
      // So that requests do not wait for long once they count in the store.
      await this.#unconfirmed.restoreMost(usageIn);
      if (!this.#isConnected) throw new Error("the store failed while this replica rejoined");
      this.#replicas.update(heartbeat);
      const restored = this.#unconfirmed.restoreRest(usageIn);
      const joined = join({ state: "sharing", reserved: this.#local.reserved(), share: [] });
      // Set before awaiting: what is taken from here on reaches the store after the restore.
      this.#isShared = true;
      this.#generation += 1;
      [this.#joins] = await Promise.all([joined, restored]);
      this.#hasCountedAlone = false;
      logger.info(
        { store: store.name, replicas: this.#replicas.size },
        "sharing rate limit counters with the other replicas",
      );
      this.#hasLoggedOutage = false;
    } catch (error) {
      this.#useLocalShare(error);
    } finally {
      lease.stop();
    }
  }

  #useLocalShare(error: unknown): void {
    const { store, logger, onStoreUnavailable } = this.#options;
    if (this.#isShared) {
      this.#generation += 1;
      this.#local.startLocalShares(this.#now());
    }
    this.#isShared = false;
    this.#isConnected = false;
    if (this.#hasLoggedOutage || this.#closing.signal.aborted) return;
    this.#hasLoggedOutage = true;
    const reason = error instanceof Error ? error.message : String(error);
    const meanwhile = MEANWHILE[onStoreUnavailable];
    logger.error(
      { store: store.name, reason, replicas: this.#replicas.size, onStoreUnavailable, meanwhile },
      "shared counters are unavailable",
    );
  }

  #syncClock(now: number): void {
    this.#clockOffset = now - performance.now();
  }

  #now(): number {
    return performance.now() + this.#clockOffset;
  }
}
