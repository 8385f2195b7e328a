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
      const answer = await join(...input);
      hasJoined.resolve();
      return answer;
    };
    await hasJoined.promise;
    expect(await other.take([{ ...monthly, amount: 60 }])).toMatchObject({ granted: false });
    // Like a killed process: it sends nothing more.
    await store.close();
    const rest = () => other.take([{ ...monthly, amount: 99 }]);
    await expect.poll(rest, { interval: 500 }).toMatchObject({ granted: true, used: { monthly: 100 } });
  });

  test("is waited for while it restores, beyond the time for one that does not answer", async () => {
    const { store, another, cut } = await start();
    const slow = another();
    const one = await open(store);
    const other = await open(slow);
    await expect.poll(() => one.state.replicas).toBe(2);
    await other.take([{ ...running, amount: 2, isReserved: false }]);
    const restore = slow.restore.bind(slow);
    const mayRestore = Promise.withResolvers<void>();
    slow.restore = async (...input) => {
      await mayRestore.promise;
      await restore(...input);
    };
    const isWaiting = Promise.withResolvers<void>();
    const heartbeat = store.heartbeat.bind(store);
    // The store's clock runs ahead with each answer, by more than a lease.
    let beats = 0;
    store.heartbeat = async (...input) => {
      const answer = await heartbeat(...input);
      if (one.state.isShared) return answer;
      beats += 1;
      if (beats > 3) isWaiting.resolve();
      return { ...answer, now: answer.now + Math.min(beats, 3) * 11_000 };
    };
    await cut();
    await isWaiting.promise;
    expect([one, other].map(({ state }) => state.isShared)).toEqual([false, false]);
    mayRestore.resolve();
    await expect.poll(() => one.state.isShared && other.state.isShared).toBe(true);
    expect(await one.take([{ ...running, amount: 2 }])).toMatchObject({ granted: false, used: { running: 2 } });
  });

  test("leaves no reservation behind if it ends while it restores", async () => {
    const { store, another } = await start();
    const one = await open(store);
    const other = await open(another());
    await expect.poll(() => one.state.replicas).toBe(2);
    await one.take([{ ...running, amount: 3 }]);
    const restore = store.restore.bind(store);
    const hasRestored = Promise.withResolvers<void>();
    store.restore = async (...input) => {
      await restore(...input);
      hasRestored.resolve();
      await new Promise(() => {});
    };
    store.heartbeat = async () => {
      throw new Error("cut off");
    };
    await hasRestored.promise;
    // Like a killed process: it sends nothing more.
    await store.close();
    const rest = () => other.take([{ ...running, amount: 3 }]);
    await expect.poll(rest, { interval: 500 }).toMatchObject({ granted: true, used: { running: 3 } });
  });

  test("joins no other counts than those that it has restored", async () => {
    const { store } = await start();
    cleanup.defer(() => store.close());
    await store.open(() => {});
    const joining = { state: "sharing", hasCounted: false, reserved: [], share: [] } as const;
    expect(await store.join("one", { ...joining, epoch: "of earlier counts" })).toBeUndefined();
    expect(await store.take("one", "1", [running])).toBeUndefined();
  });

  test("shares no more once its reservations are being released", async () => {
    const { store } = await start();
    cleanup.defer(() => store.close());
    const { epoch } = await store.open(() => {});
    const joining = { state: "sharing", epoch, hasCounted: false, reserved: [], share: [] } as const;
    await store.join("ending", joining);
    await store.join("other", joining);
    const many = { ...running, limit: 1_000 };
    await Promise.all(Array.from({ length: 900 }, (_, id) => store.take("ending", String(id), [many])));
    await store.leave("ending");
    expect(await store.take("ending", "more", [many])).toBeUndefined();
    const { replicas } = await store.heartbeat("other");
    expect([...replicas.keys()]).toEqual(["other"]);
    for (let beats = 0; beats < 5; beats += 1) await store.heartbeat("other");
    expect(await store.take("other", "look", [{ ...many, amount: 0 }])).toMatchObject({ used: [0] });
  });
});
