/** Keeps a slow or absent store from slowing or failing requests. */

import type {
  CacheSize,
  CacheStore,
  NewStoredAnswer,
  PurgeFilter,
  StoredAnswer,
} from "../../inference/cache/cache-store.ts";
import { withTimeout } from "../../kernel/async/timeout.ts";
import { unavailable } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";

/** Time for which a request waits for the store. */
const LOOKUP_MS = 100;
/** Time for which a store that did not answer is not asked. */
const REST_MS = 1000;
/** Answers that wait to be written; further ones are not stored. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

export class BoundedCacheStore implements CacheStore {
  readonly #store: CacheStore;
  readonly #logger: Logger;
  readonly #lookupMs: number;
  #restsUntil = 0;
  #isAway = false;
  #pendingBytes = 0;

  constructor(store: CacheStore, logger: Logger, lookupMs = LOOKUP_MS) {
    this.#store = store;
    this.#logger = logger;
    this.#lookupMs = lookupMs;
  }

  /** Does not throw: undefined, too, while the store is away. */
  async get(key: string): Promise<StoredAnswer | undefined> {
    if (performance.now() < this.#restsUntil) return undefined;
    try {
      const stored = await withTimeout(this.#store.get(key), this.#lookupMs);
      this.#isBack();
      return stored;
    } catch (failure) {
      this.#rest(failure);
      return undefined;
    }
  }

  /** Does not throw: an answer that cannot be written is not stored. */
  async put(answer: NewStoredAnswer): Promise<void> {
    const bytes = answer.content.length;
    if (performance.now() < this.#restsUntil || this.#pendingBytes + bytes > MAX_PENDING_BYTES) return;
    this.#pendingBytes += bytes;
    try {
      await this.#store.put(answer);
    } catch (failure) {
      this.#rest(failure);
    } finally {
      this.#pendingBytes -= bytes;
    }
  }

  /** Throws a Fault while the store is away. */
  async purge(filter: PurgeFilter): Promise<number> {
    return await this.#store.purge(filter).catch(throwUnavailable);
  }

  /** Throws a Fault while the store is away. */
  async size(organizationId?: string): Promise<CacheSize> {
    return await this.#store.size(organizationId).catch(throwUnavailable);
  }

  #rest(failure: unknown): void {
    this.#restsUntil = performance.now() + REST_MS;
    if (this.#isAway) return;
    this.#isAway = true;
    const reason = failure instanceof Error ? failure.message : String(failure);
    this.#logger.warn({ reason }, "the store of cached answers does not answer; requests run as without it");
  }

  #isBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#logger.info("the store of cached answers answers again");
  }
}

function throwUnavailable(failure: unknown): never {
  const message = "The store of cached answers cannot be reached. Try again in a moment.";
  throw unavailable(message, "database_unavailable", 1, failure);
}
