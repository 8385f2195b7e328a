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
  /** Opens a second connection, for another replica. */
  another(): CounterStore;
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
    const another = () => new PostgresqlStore(url);
    return { store: another(), another, cut: () => operator.query(cut) };
  },
  ...(HAS_REDIS && {
    Redis: async () => {
      const url = cleanup.use(await startRedis()).createDatabase();
      const operator = await createClient({ url: url.reveal() }).connect();
      cleanup.defer(() => operator.destroy());
      const another = () => new RedisStore(parseRedisUrl(url.reveal()));
      return {
        store: another(),
        another,
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
      await expect.poll(() => counters.state.isShared, { interval: 1 }).toBe(false);
      await expect.poll(() => counters.state.isShared).toBe(true);
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
    await expect.poll(() => counters.state.isShared).toBe(true);
    await use(counters, 3);
    expect(counters.state.isShared).toBe(true);
  });

  test("keeps its share from others while it waits for them, not beyond its end", async () => {
    const { store, another } = await start();
    const one = await open(store);
    const other = await open(another());
    await expect.poll(() => one.state.replicas).toBe(2);
    const monthly = { key: "monthly", amount: 1, limit: 100, windowSeconds: 2_678_400, isReserved: false };
    await one.take([monthly]);
    // Loses the store, and never hears of the other replica again.
    store.heartbeat = () => new Promise(() => {});
    const join = store.join.bind(store);
    const hasJoined = Promise.withResolvers<void>();
    store.join = async (...input) => {
      await join(...input);
      hasJoined.resolve();
    };
    await hasJoined.promise;
    expect(await other.take([{ ...monthly, amount: 60 }])).toMatchObject({ granted: false });
    // Like a killed process: it sends nothing more.
    await store.close();
    const rest = () => other.take([{ ...monthly, amount: 99 }]);
    await expect.poll(rest, { interval: 500 }).toMatchObject({ granted: true, used: { monthly: 100 } });
  });

  test.each(["before it reconnects", "while it waits for the others"])(
    "hands over initial amounts set %s, before others share again",
    async (time) => {
      const { store, cut, another } = await start();
      const one = await open(store);
      const other = await open(another());
      await expect.poll(() => one.state.replicas).toBe(2);
      // Keeps `one` from the end of its rejoin.
      const heartbeat = store.heartbeat.bind(store);
      const openStore = store.open.bind(store);
      const gate = Promise.withResolvers<void>();
      const isWaiting = Promise.withResolvers<void>();
      store.heartbeat = async (...input) => {
        const answer = await heartbeat(...input);
        if (one.state.isShared) return answer;
        isWaiting.resolve();
        await gate.promise;
        return heartbeat(...input);
      };
      const reopening = Promise.withResolvers<void>();
      store.open = async (...input) => {
        await reopening.promise;
        return await openStore(...input);
      };
      await cut();
      await expect.poll(() => one.state.isShared, { interval: 1 }).toBe(false);
      if (time === "before it reconnects") await one.begin("spent", 60, 90);
      reopening.resolve();
      await isWaiting.promise;
      if (time !== "before it reconnects") await one.begin("spent", 60, 90);
      await expect.poll(() => other.state.isShared).toBe(true);
      await other.begin("spent", 60, 95);
      const nothing = { ...running, key: "spent", windowSeconds: 60, limit: 100, amount: 0 };
      expect(await other.take([nothing])).toMatchObject({ used: { spent: 90 } });
      gate.resolve();
    },
  );
});
