/** Opens the counters: in Redis, else in PostgreSQL, else in memory. */

import type { Logger } from "../observability/logger.ts";
import type { Secret } from "../secret.ts";
import type { CounterStore } from "./counter-store.ts";
import { InMemoryCounters } from "./in-memory-counters.ts";
import { SharedCounters, type SharedCountersOptions } from "./shared-counters.ts";

export interface CountersSettings {
  redisUrl: Secret | undefined;
  databaseUrl: Secret | undefined;
  onCountersUnavailable: SharedCountersOptions["onStoreUnavailable"];
}

/** Resolves after the first attempt to reach the shared store; the service also starts without it. */
export async function openCounters(
  { redisUrl, databaseUrl, onCountersUnavailable }: CountersSettings,
  logger: Logger,
): Promise<InMemoryCounters | SharedCounters> {
  const store = await storeOf(redisUrl, databaseUrl);
  if (store === undefined) return new InMemoryCounters();
  const counters = new SharedCounters({
    store,
    logger,
    onStoreUnavailable: onCountersUnavailable,
    logsFirstFailure: redisUrl !== undefined,
  });
  await counters.firstAttempt();
  return counters;
}

/** Imports a client library only when it is configured. */
async function storeOf(
  redisUrl: Secret | undefined,
  databaseUrl: Secret | undefined,
): Promise<CounterStore | undefined> {
  if (redisUrl !== undefined) return new (await import("./redis-store.ts")).RedisStore(redisUrl);
  if (databaseUrl !== undefined) return new (await import("./postgresql-store.ts")).PostgresqlStore(databaseUrl);
  return undefined;
}
