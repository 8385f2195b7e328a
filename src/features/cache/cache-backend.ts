import type { CacheStore } from "../../inference/cache/cache-store.ts";

/** A store with its upkeep. Its methods throw while it is away. */
export interface CacheBackend extends CacheStore {
  /** Removes answers that have expired before `now`, in epoch milliseconds. */
  removeExpired(now: number): Promise<void>;
  close(): Promise<void>;
}
