/** Caches API keys in memory, never older than a second while the database can be reached. */

import type DataLoader from "dataloader";
import { TimeoutError, withTimeout } from "../../../kernel/async/timeout.ts";
import { Fault, unavailable } from "../../../kernel/faults.ts";
import { growingCache } from "../../../kernel/growing-cache.ts";
import type { Logger } from "../../../kernel/logger.ts";
import { batchLoader } from "../batch-loader.ts";
import { type CachedKey, type KeyRecord, type KeySource, toCachedKey } from "./cached-key.ts";

const MAX_KEPT = 10_000;
/** Cached keys that are read again after accounts changed; the remaining ones are evicted. */
const MAX_RELOADED = 2_000;
const BATCH = 500;
/** Reads of a key that accounts' changes outdate, one after the other. */
const MAX_READS = 3;
/** The first use after this polls for changes in the background. */
const CHECK_AFTER_MS = 250;
/** Cached keys are not trusted longer without a poll: a revoked key must be refused within a second. */
const STALE_AFTER_MS = 900;
const CHECK_TIMEOUT_MS = 2_000;
/** A database that is slow is not yet one that cannot be reached. */
const READ_TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS = 500;

export interface ApiKeyCacheOptions {
  source: KeySource;
  logger: Logger;
  /** How long cached keys keep working while the database is unavailable. */
  graceSeconds: number;
}

export class ApiKeyCache {
  readonly #options: ApiKeyCacheOptions;
  readonly #known = growingCache<CachedKey>(MAX_KEPT);
  readonly #unknown = growingCache<true>(MAX_KEPT);
  readonly #loader: DataLoader<string, CachedKey | undefined>;
  /** Increments whenever earlier reads may be outdated: a slow read is not cached. */
  #epoch = 0;
  #version: number | undefined;
  /** When the database last answered a poll, on the clock of `performance.now()`. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Resolves with the time at which the running poll began; undefined when it failed. */
  #checking: Promise<number | undefined> | undefined;
  #reloading: Promise<void> | undefined;
  /** The reload after the running one. */
  #nextReload: Promise<void> | undefined;
  #isReachable = true;
  #nextCheckAt = Number.NEGATIVE_INFINITY;

  constructor(options: ApiKeyCacheOptions) {
    this.#options = options;
    this.#loader = batchLoader(BATCH, (hashes) => this.#lookUp(hashes));
  }

  /** Undefined for a key that does not work. Throws a Fault when the database is unavailable and the key not cached. */
  async find(keyHash: string): Promise<CachedKey | undefined> {
    const isCached = this.#known.has(keyHash) || this.#unknown.has(keyHash);
    if (!isCached && this.#isReachable) return this.#read(keyHash);
    const arrivedAt = performance.now();
    await this.#check(this.#known.has(keyHash));
    // A poll for which this request waited counts, however slow it was.
    if (arrivedAt - this.#checkedAt <= STALE_AFTER_MS) {
      const cached = this.#known.get(keyHash);
      if (cached !== undefined || this.#unknown.has(keyHash)) return cached;
      return this.#loader.load(keyHash);
    }
    const cached = this.#known.get(keyHash);
    const ageMs = performance.now() - this.#checkedAt;
    if (cached !== undefined && ageMs <= this.#options.graceSeconds * 1000) return cached;
    throw cannotCheck();
  }

  /** Reads a key that is not cached, for which no poll has to vouch. */
  async #read(keyHash: string): Promise<CachedKey | undefined> {
    const now = performance.now();
    if (now - this.#checkedAt >= CHECK_AFTER_MS) this.#poll(now);
    try {
      return await withTimeout(this.#loader.load(keyHash), READ_TIMEOUT_MS);
    } catch (error) {
      throw error instanceof TimeoutError ? cannotCheck() : error;
    }
  }

  /** The cached key, when `find` would resolve with it without a query; undefined otherwise. */
  findFresh(keyHash: string): CachedKey | undefined {
    const ageMs = performance.now() - this.#checkedAt;
    return ageMs < CHECK_AFTER_MS ? this.#known.get(keyHash) : undefined;
  }

  /** Evicts a key, which its next use reads again. */
  evict(keyHash: string): void {
    this.#known.delete(keyHash);
    this.#unknown.delete(keyHash);
  }

  /** Called after every change that this process made, which then applies from the next request on. */
  async reload(): Promise<void> {
    try {
      await this.#reloadNext();
    } catch (error) {
      // Any of them may have been revoked.
      this.#known.clear();
      this.#options.logger.warn(
        { error: describe(error) },
        "evicted all cached API keys because they could not be reloaded",
      );
    }
  }

  async #check(isKnown: boolean): Promise<void> {
    const now = performance.now();
    const ageMs = now - this.#checkedAt;
    if (ageMs < CHECK_AFTER_MS) return;
    this.#poll(now);
    if (ageMs < STALE_AFTER_MS) return;
    // While the database is unavailable, cached keys do not wait for its timeout.
    if (!this.#isReachable && isKnown) return;
    const beganAt = await this.#checking;
    // A slow poll of earlier requests may have missed what happened since.
    if (beganAt === undefined || now - beganAt <= STALE_AFTER_MS) return;
    this.#poll(performance.now());
    await this.#checking;
  }

  #poll(now: number): void {
    if (this.#checking !== undefined || now < this.#nextCheckAt) return;
    this.#checking = this.#lookForChanges().finally(() => {
      this.#checking = undefined;
    });
  }

  async #lookForChanges(): Promise<number | undefined> {
    const { source } = this.#options;
    const beganAt = performance.now();
    try {
      const version = await withTimeout(source.readVersion(), CHECK_TIMEOUT_MS);
      // Keys stay cached when that fails, as when the poll does: the database is gone, and they have their grace.
      if (version !== this.#version) await withTimeout(this.#reloadNext(), CHECK_TIMEOUT_MS);
      this.#version = version;
      this.#checkedAt = beganAt;
      this.databaseRecovered();
      return beganAt;
    } catch (error) {
      this.#nextCheckAt = performance.now() + RETRY_AFTER_MS;
      this.databaseFailed(error);
      return undefined;
    }
  }

  /** Also called by the readiness check: a service that is not ready may receive no requests that would notice. */
  databaseFailed(error: unknown): void {
    const { source, logger } = this.#options;
    const reason = describe(error);
    if (this.#isReachable) logger.error({ error: reason }, describeOutage(source.kind, reason));
    this.#isReachable = false;
  }

  /** Also called when the first keys could be created. */
  databaseRecovered(): void {
    if (!this.#isReachable) this.#options.logger.info("the database can be reached again");
    this.#isReachable = true;
  }

  /**
   * Reloads after the call, once for all who call meanwhile. One after the other: an older read never replaces a newer
   * one, and many changes at once do not queue as many reloads.
   */
  #reloadNext(): Promise<void> {
    if (this.#nextReload !== undefined) return this.#nextReload;
    if (this.#reloading === undefined) return this.#beginReload();
    this.#nextReload = this.#reloading
      .catch(() => {})
      .then(() => {
        this.#nextReload = undefined;
        return this.#beginReload();
      });
    return this.#nextReload;
  }

  #beginReload(): Promise<void> {
    this.#reloading = this.#reloadKnown().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  async #reloadKnown(): Promise<void> {
    this.#epoch += 1;
    this.#unknown.clear();
    const hashes = [...this.#known.keys()];
    for (const hash of hashes.splice(MAX_RELOADED)) this.#known.delete(hash);
    // Least recently used first keeps the LRU order.
    for (let end = hashes.length; end > 0; end -= BATCH) {
      const batch = hashes.slice(Math.max(0, end - BATCH), end).reverse();
      const records = await this.#options.source.load(batch);
      for (const hash of batch) this.#keep(hash, cachedOf(records.get(hash)));
    }
  }

  /** Reads again what a change made outdated meanwhile: a key that is not cached would not outlast an outage. */
  async #lookUp(hashes: readonly string[]): Promise<ReadonlyMap<string, CachedKey>> {
    for (let attempt = 1; ; attempt += 1) {
      const epoch = this.#epoch;
      const records = await this.#options.source.load(hashes);
      const cachedKeys = new Map([...records].map(([hash, record]) => [hash, toCachedKey(record)]));
      if (epoch === this.#epoch) {
        for (const hash of hashes) {
          this.#keep(hash, cachedKeys.get(hash));
          if (!cachedKeys.has(hash)) this.#unknown.set(hash, true);
        }
      }
      if (epoch === this.#epoch || attempt === MAX_READS) return cachedKeys;
    }
  }

  #keep(hash: string, cached: CachedKey | undefined): void {
    if (cached === undefined) this.#known.delete(hash);
    else this.#known.set(hash, cached);
  }
}

function cannotCheck(): Fault {
  const message = "API keys cannot be checked now, because the database cannot be reached. Try again in a moment.";
  return unavailable(message, "database_unavailable", 1);
}

function cachedOf(record: KeyRecord | undefined): CachedKey | undefined {
  return record && toCachedKey(record);
}

function describe(error: unknown): string {
  const cause = error instanceof Fault && error.cause !== undefined ? error.cause : error;
  // Node.js gives the failure of a host with several addresses no message.
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(describe).join(", ");
  return cause instanceof Error ? cause.message : String(cause);
}

function describeOutage(kind: KeySource["kind"], reason: string): string {
  const place = kind === "postgresql" ? "Check DATABASE_URL and the server." : "Check the data directory.";
  return `The database cannot be reached: ${reason}. ${place} Requests that need it get a 503 until then.`;
}
