/** Opens the counters: in Redis, else in PostgreSQL, else in memory. */

import type { Logger } from "../kernel/logger.ts";
import type { RedisAddress } from "../kernel/redis-address.ts";
import type { Secret } from "../kernel/secret.ts";
import type { CounterStore } from "./counter-store.ts";
import { InMemoryCounters } from "./in-memory-counters.ts";
import type { ReplicaCount } from "./replica-set.ts";
import { SharedCounters, type SharedCountersOptions } from "./shared-counters.ts";

export interface CountersSettings {
  environment: { readonly REDIS_URL?: RedisAddress | undefined; readonly DATABASE_URL?: Secret | undefined };
  limits: { readonly onCountersUnavailable: SharedCountersOptions["onStoreUnavailable"] };
}

/** Resolves after the first attempt to reach the shared store; the service also starts without it. */
export async function openCounters(
  { environment: { REDIS_URL: redis, DATABASE_URL: databaseUrl }, limits }: CountersSettings,
  logger: Logger,
  replicaCount?: ReplicaCount,
): Promise<InMemoryCounters | SharedCounters> {
  const store = await storeOf(redis, databaseUrl);
  if (store === undefined) return new InMemoryCounters();
  const counters = new SharedCounters({
    store,
    logger,
    onStoreUnavailable: limits.onCountersUnavailable,
    logsFirstFailure: redis !== undefined,
    ...(replicaCount !== undefined && { replicaCount }),
  });
  await counters.firstAttempt();
  return counters;
}

/** Imports a client library only when it is configured. */
async function storeOf(
  redis: RedisAddress | undefined,
  databaseUrl: Secret | undefined,
): Promise<CounterStore | undefined> {
  if (redis !== undefined) return new (await import("./redis-store.ts")).RedisStore(redis);
  if (databaseUrl !== undefined) return new (await import("./postgresql-store.ts")).PostgresqlStore(databaseUrl);
  return undefined;
}
