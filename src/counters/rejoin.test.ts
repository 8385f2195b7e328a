/** Reservations of a replica that reconnects to a store without data loss. */

import { createClient } from "@redis/client";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../../test/support/databases/postgres.ts";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../../test/support/databases/redis.ts";
import { createLogger } from "../kernel/logger.ts";
import { parseRedisUrl } from "../kernel/redis-address.ts";
import type { CounterStore } from "./counter-store.ts";
import type { CounterClaim } from "./counters.ts";
import { PostgresqlStore } from "./postgresql-store.ts";
import { RedisStore } from "./redis-store.ts";
import { SharedCounters } from "./shared-counters.ts";

interface Server {
  store: CounterStore;
  /** Makes the server close every connection. */
  cut(): Promise<unknown>;
}

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const SERVERS: Record<string, () => Promise<Server>> = {
  PostgreSQL: async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const operator = new pg.Client(url.reveal());
    await operator.connect();
    operator.on("error", () => {});
    cleanup.defer(() => operator.end());
    const cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'parlance counters'";
    return { store: new PostgresqlStore(url), cut: () => operator.query(cut) };
  },
  ...(HAS_REDIS && {
    Redis: async () => {
      const url = cleanup.use(await startRedis()).createDatabase();
      const operator = await createClient({ url: url.reveal() }).connect();
      cleanup.defer(() => operator.destroy());
      return {
        store: new RedisStore(parseRedisUrl(url.reveal())),
        cut: () => operator.sendCommand(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
      };
    },
  }),
};

if (!HAS_REDIS) test.skip(`a replica that joins Redis again${WITHOUT_REDIS}`);

const running: CounterClaim = { key: "running", amount: 1, limit: 3, windowSeconds: 660, isReserved: true };

async function open(store: CounterStore): Promise<SharedCounters> {
  const counters = new SharedCounters({ store, logger: createLogger("silent"), onStoreUnavailable: "share" });
  cleanup.defer(() => counters.close());
  await counters.firstAttempt();
  return counters;
}

async function use(counters: SharedCounters, number: number): Promise<void> {
  const taken = await Promise.all(Array.from({ length: number }, () => counters.take([running])));
  expect(taken).toMatchObject(taken.map(() => ({ granted: true })));
  for (const each of taken) {
    if (each.granted) await counters.settle(each.reservation, [{ ...running, difference: -1 }]);
  }
}

describe.each(Object.entries(SERVERS))("a replica that rejoins %s", (_name, start) => {
  test("gets the full limit back, however often it rejoins", async () => {
    const { store, cut } = await start();
    const counters = await open(store);
    for (let outage = 0; outage < 3; outage += 1) {
      await use(counters, 1);
      await cut();
      await expect.poll(() => counters.state.isShared, { timeout: 10_000, interval: 1 }).toBe(false);
      await expect.poll(() => counters.state.isShared, { timeout: 10_000 }).toBe(true);
      await use(counters, 3);
    }
    expect(counters.state.isShared).toBe(true);
  });

  test("gets the full limit back after a take with a lost response", async () => {
    const { store } = await start();
    const take = store.take.bind(store);
    store.take = async (...asked) => {
      store.take = take;
      await take(...asked);
      throw new Error("the answer was lost");
    };
    const counters = await open(store);
    await use(counters, 1);
    await expect.poll(() => counters.state.isShared, { timeout: 10_000 }).toBe(true);
    await use(counters, 3);
    expect(counters.state.isShared).toBe(true);
  });
});
