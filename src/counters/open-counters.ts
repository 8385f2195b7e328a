/** Redis, or the database where it can be shared, or this process's memory. */

import type { Logger } from "../observability/logger.ts";
import type { Secret } from "../secret.ts";
import type { CounterStore } from "./counter-store.ts";
import { InMemoryCounters } from "./in-memory-counters.ts";
import { SharedCounters, type SharedCountersOptions } from "./shared-counters.ts";

export interface CountersSettings {
  redisUrl: Secret | undefined;
  databaseUrl: Secret | undefined;
  whenCountersAway: SharedCountersOptions["whenAway"];
}

/** Resolves once a shared store was tried; the service starts without it too. */
export async function openCounters(
  { redisUrl, databaseUrl, whenCountersAway }: CountersSettings,
  logger: Logger,
): Promise<InMemoryCounters | SharedCounters> {
  const store = await storeOf(redisUrl, databaseUrl);
  if (store === undefined) return new InMemoryCounters();
  const counters = new SharedCounters({ store, logger, whenAway: whenCountersAway });
  await counters.tried();
  return counters;
}

/** Clients are loaded where they are used only. */
async function storeOf(
  redisUrl: Secret | undefined,
  databaseUrl: Secret | undefined,
): Promise<CounterStore | undefined> {
  if (redisUrl !== undefined) return new (await import("./redis-store.ts")).RedisStore(redisUrl);
  if (databaseUrl !== undefined) return new (await import("./postgresql-store.ts")).PostgresqlStore(databaseUrl);
  return undefined;
}
