/** Counters shared by replicas: exact limits, crashes of replicas, and outages of the store. */

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, type TestContext, test } from "vitest";
import { type PostgresServer, sharedPostgres, startPostgres } from "../../test/support/databases/postgres.ts";
import { HAS_REDIS, type RedisServer, startRedis, WITHOUT_REDIS } from "../../test/support/databases/redis.ts";
import { expectWithin } from "../../test/support/timing.ts";
import { createLogger } from "../kernel/logger.ts";
import { parseRedisUrl } from "../kernel/redis-address.ts";
import type { Secret } from "../kernel/secret.ts";
import type { CounterStore } from "./counter-store.ts";
import type { CounterClaim, Taken } from "./counters.ts";
import { PostgresqlStore } from "./postgresql-store.ts";
import { RedisStore } from "./redis-store.ts";
import { SharedCounters, type SharedCountersOptions } from "./shared-counters.ts";

interface Server {
  url(): Promise<Secret>;
  open(url: Secret): CounterStore;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** True if stopping it loses its data. */
  forgets: boolean;
  end(): Promise<void>;
}

interface Kind {
  start(): Promise<Server>;
  /** A server that no test stops. */
  share(): Promise<Server>;
}

const startOneRedis = async () => ofRedis(await startRedis());
const SERVERS: Record<string, Kind> = {
  PostgreSQL: {
    start: async () => ofPostgres(await startPostgres()),
    share: async () => ({ ...ofPostgres(await sharedPostgres()), end: async () => {} }),
  },
  ...(HAS_REDIS && { Redis: { start: startOneRedis, share: startOneRedis } }),
};

function ofPostgres(server: PostgresServer): Server {
  return {
    url: () => server.createDatabase(),
    open: (url) => new PostgresqlStore(url),
    stop: () => server.stop(),
    start: () => server.start(),
    forgets: false,
    end: () => server[Symbol.asyncDispose](),
  };
}

function ofRedis(server: RedisServer): Server {
  return {
    url: async () => server.createDatabase(),
    open: (url) => new RedisStore(parseRedisUrl(url.reveal())),
    stop: () => server.stop(),
    start: () => server.start(),
    forgets: true,
    end: () => server[Symbol.asyncDispose](),
  };
}

if (!HAS_REDIS) test.skip(`replicas on Redis${WITHOUT_REDIS}`);

type Given = Partial<SharedCountersOptions>;

interface Started {
  counters: SharedCounters;
  store: CounterStore;
}

const claim = (amount: number, given: Partial<CounterClaim> = {}): CounterClaim => {
  return { key: "a", amount, limit: 100, windowSeconds: 60, isReserved: true, ...given };
};

/** Tests that stop the server start a separate one. They mostly wait, so they run concurrently. */
describe.concurrent.each(Object.entries(SERVERS))("replicas on %s", (_name, kind) => {
  const replicas = async (number: number, context: TestContext) => replicasOn(await kind.share(), number, context);
  const separateReplicas = async (number: number, context: TestContext, given: Given = {}) =>
    replicasOn(await kind.start(), number, context, given);

  async function replicasOn(
    server: Server,
    number: number,
    { onTestFinished, expect }: TestContext,
    given: Given = {},
  ) {
    const open: SharedCounters[] = [];
    onTestFinished(async () => {
      await Promise.all(open.map((counters) => counters.close()));
      await server.end();
    });
    const url = await server.url();
    const start = async () => {
      const store = server.open(url);
      const counters = new SharedCounters({
        store,
        logger: createLogger("silent"),
        onStoreUnavailable: "share",
        ...given,
      });
      await counters.firstAttempt();
      open.push(counters);
      return { counters, store };
    };
    const started: Awaited<ReturnType<typeof start>>[] = [];
    for (let index = 0; index < number; index += 1) started.push(await start());
    const seen = () => started.map(({ counters }) => counters.state.replicas);
    await expect.poll(seen).toEqual(Array(number).fill(number));
    return { server, started, start };
  }

  const isShared = ({ counters }: { counters: SharedCounters }) => counters.state.isShared;
  const grantedOf = (answers: Taken[]) => answers.filter(({ granted }) => granted).length;
  const takeMany = async (counters: SharedCounters, number: number, each = claim(1)) =>
    grantedOf(await Promise.all(Array.from({ length: number }, () => counters.take([each]))));

  test("grant exactly the limit together", async (context) => {
    const { started } = await replicas(3, context);
    const { expect } = context;
    const granted = await Promise.all(started.map(({ counters }) => takeMany(counters, 100)));
    expect(granted.reduce((sum, each) => sum + each)).toBe(100);
    const [one, two] = started;
    const given = await one?.counters.take([claim(0)]);
    expect(given).toMatchObject({ used: { a: 100 } });
    expect(await two?.counters.take([claim(1, { limit: 101 })])).toMatchObject({ granted: true });
  });

  test("release the reservations of a dead replica, but not its usage", async (context) => {
    const { started } = await replicas(2, context);
    const { expect } = context;
    const [dying, living] = started.map(({ counters }) => counters);
    await dying?.take([claim(70), claim(1, { key: "requests", isReserved: false })]);
    expect(await living?.take([claim(40)])).toMatchObject({ granted: false });
    // Like a killed process: it sends nothing more.
    await started[0]?.store.close();
    await expect.poll(() => living?.take([claim(95)]), { interval: 500 }).toMatchObject({ granted: true });
    expect(await living?.take([claim(0, { key: "requests" })])).toMatchObject({ used: { requests: 1 } });
    expect(living?.state).toEqual({ isShared: true, replicas: 1 });
  });

  test("release reservations immediately on a graceful stop", async (context) => {
    const { started } = await replicas(2, context);
    const { expect } = context;
    await started[0]?.counters.take([claim(70)]);
    await started[0]?.counters.close();
    expect(await started[1]?.counters.take([claim(95)])).toMatchObject({ granted: true });
  });

  test("enforce their shares while the store is unavailable, never exceeding the limit", async (context) => {
    const { server, started } = await separateReplicas(2, context);
    const { expect } = context;
    const [one, two] = started.map(({ counters }) => counters) as [SharedCounters, SharedCounters];
    const reservation = await one.take([claim(20)]);
    await two.take([claim(20)]);
    // The others may have used more by now: their recent usage stays theirs until they have been idle for a while.
    for (let look = 0; look < 2; look += 1) {
      await sleep(1_100);
      await one.take([claim(0)]);
      await two.take([claim(0)]);
    }
    await server.stop();
    try {
      // Each replica gets its share of the remaining 60.
      const alone = await Promise.all([takeMany(one, 60), takeMany(two, 60)]);
      expect(alone.reduce((sum, each) => sum + each)).toBe(60);
      // An unused limit is divided completely.
      const fresh = claim(1, { key: "b", limit: 5 });
      const divided = await Promise.all([takeMany(one, 9, fresh), takeMany(two, 9, fresh)]);
      expect(divided.sort()).toEqual([2, 3]);
      if (reservation.granted) await one.settle(reservation.reservation, [{ ...claim(20), difference: -15 }]);
      expect(await takeMany(one, 60)).toBe(15);
    } finally {
      await server.start();
    }
    const busy: number[] = [];
    const hammering = started.map(async (each) => {
      while (!isShared(each)) {
        busy.push(await takeMany(each.counters, 5));
        await sleep(50);
      }
    });
    await Promise.all(hammering);
    busy.push(await takeMany(one, 20), await takeMany(two, 20));
    expect(busy.reduce((sum, each) => sum + each)).toBe(0);
    expect(await two.take([claim(0)])).toMatchObject({ used: { a: 100 } });
    expect(await one.take([claim(0, { key: "b" })])).toMatchObject({ used: { b: 5 } });
  });

  test("keep counting after a restart of the store, with or without its data", async (context) => {
    const { server, started } = await separateReplicas(2, context);
    const { expect } = context;
    const [one, two] = started.map(({ counters }) => counters) as [SharedCounters, SharedCounters];
    const before = [one, two].map(({ generation }) => generation);
    const taken = await one.take([claim(60)]);
    await two.take([claim(30, { isReserved: false })]);
    await server.stop();
    await server.start();
    await expect.poll(() => started.every(isShared)).toBe(true);
    expect(one.generation).toBeGreaterThan(before[0] ?? 0);
    expect(two.generation).toBeGreaterThan(before[1] ?? 0);
    expect(await two.take([claim(11)])).toMatchObject({ granted: false, used: { a: 90 } });
    if (taken.granted) await one.settle(taken.reservation, [{ ...claim(60), difference: -50 }]);
    expect(await two.take([claim(60)])).toMatchObject({ granted: true, used: { a: 100 } });
  });

  test("keep to a share of what records leave while the store is unavailable, which is no usage", async (context) => {
    const { server, started } = await separateReplicas(2, context);
    const { expect } = context;
    const [one, two] = started.map(({ counters }) => counters) as [SharedCounters, SharedCounters];
    await server.stop();
    try {
      await one.take([claim(0)]);
      await one.raise("a", 60, 60);
      expect(await one.take([claim(21)])).toMatchObject({ granted: false });
      expect(await one.take([claim(15, { isReserved: false })])).toMatchObject({ granted: true });
      // Its own part of what is recorded by now was in its share.
      await one.raise("a", 60, 75);
      expect(await one.take([claim(6)])).toMatchObject({ granted: false });
      expect(await one.take([claim(5, { isReserved: false })])).toMatchObject({ granted: true });
    } finally {
      await server.start();
    }
    await expect.poll(() => started.every(isShared)).toBe(true);
    expect(await two.take([claim(0)])).toMatchObject({ used: { a: 20 } });
    await two.raise("a", 60, 80);
    expect(await one.take([claim(0)])).toMatchObject({ used: { a: 80 } });
  });

  test("count once what records stood in for, when the replica that used it is back", async (context) => {
    const { started } = await separateReplicas(2, context);
    const { expect } = context;
    const [{ counters: one, store }, { counters: two }] = started as [Started, Started];
    await two.take([claim(10, { isReserved: false })]);
    const running = await one.take([claim(5)]);
    const isBack = Promise.withResolvers<void>();
    const open = store.open.bind(store);
    store.open = async (...given) => {
      await isBack.promise;
      return open(...given);
    };
    const heartbeat = store.heartbeat.bind(store);
    store.heartbeat = async () => {
      store.heartbeat = heartbeat;
      throw new Error("cut off");
    };
    await expect.poll(() => one.state.isShared).toBe(false);
    await one.take([claim(20, { isReserved: false })]);
    // What neither has used is of a replica that has ended.
    await two.raise("a", 60, 40);
    expect(await two.take([claim(0)])).toMatchObject({ used: { a: 45 } });
    const { generation } = two;
    isBack.resolve();
    await expect.poll(() => one.state.isShared).toBe(true);
    await expect.poll(() => two.generation).toBeGreaterThan(generation);
    expect(await two.take([claim(0)])).toMatchObject({ used: { a: 45 } });
    await two.raise("a", 60, 40);
    expect(await two.take([claim(0)])).toMatchObject({ used: { a: 45 } });
    if (running.granted) await one.settle(running.reservation, [{ ...claim(5), difference: -4 }]);
    expect(await two.take([claim(0)])).toMatchObject({ used: { a: 41 } });
  });

  test.for([
    ["refuse", 0],
    ["admit", 300],
  ] as const)("%s while the store is unavailable, as configured", async ([onStoreUnavailable, granted], context) => {
    const { server, started } = await separateReplicas(1, context, { onStoreUnavailable });
    const { expect } = context;
    const [counters] = started.map((each) => each.counters) as [SharedCounters];
    await server.stop();
    try {
      if (onStoreUnavailable === "admit") expect(await takeMany(counters, 300)).toBe(granted);
      else await expect(counters.take([claim(1)])).rejects.toMatchObject({ kind: "unavailable" });
    } finally {
      await server.start();
    }
    await expect.poll(() => counters.state.isShared).toBe(true);
    expect(await counters.take([claim(0)])).toMatchObject({ used: { a: granted } });
  });

  test("start without the store and share counters once it is available", async (context) => {
    const { server, started, start } = await separateReplicas(1, context);
    const { expect } = context;
    await server.stop();
    let late: Awaited<ReturnType<typeof start>>;
    try {
      late = await start();
      expect(await takeMany(late.counters, 30)).toBe(30);
    } finally {
      await server.start();
    }
    await expect.poll(() => [...started, late].every(isShared)).toBe(true);
    expect(await started[0]?.counters.take([claim(0)])).toMatchObject({ used: { a: 30 } });
  });
});

test.skipIf(!HAS_REDIS)(`a replica that starts without the store keeps to a share${WITHOUT_REDIS}`, async () => {
  await using redis = await startRedis();
  const url = parseRedisUrl(redis.createDatabase().reveal());
  let recorded = 0;
  const replicaCount = {
    read: async () => recorded,
    write: async (replicas: number) => {
      recorded = replicas;
    },
  };
  const start = async () => {
    const store = new RedisStore(url);
    const options = { store, logger: createLogger("silent"), onStoreUnavailable: "share", replicaCount } as const;
    const counters = new SharedCounters(options);
    await counters.firstAttempt();
    return counters;
  };
  const first = [await start(), await start(), await start()];
  await expect.poll(() => recorded).toBe(3);
  await redis.stop();
  await Promise.all(first.map((counters) => counters.close()));
  const late = await start();
  const answers = await Promise.all(Array.from({ length: 100 }, () => late.take([claim(1)])));
  expect(answers.filter(({ granted }) => granted)).toHaveLength(33);
  await redis.start();
  await expect.poll(() => late.state.isShared).toBe(true);
  expect(recorded).toBe(1);
  await late.close();
});

test.skipIf(!HAS_REDIS)(`delays only one request when the store hangs${WITHOUT_REDIS}`, async () => {
  await using redis = await startRedis();
  await using closing = new AsyncDisposableStack();
  const store = new RedisStore(parseRedisUrl(redis.createDatabase().reveal()));
  const counters = new SharedCounters({ store, logger: createLogger("silent"), onStoreUnavailable: "share" });
  closing.defer(() => counters.close());
  await counters.firstAttempt();
  redis.signal("SIGSTOP");
  try {
    expect(await counters.take([claim(1)])).toMatchObject({ granted: true });
    expect(counters.state.isShared).toBe(false);
    const began = performance.now();
    for (let request = 0; request < 50; request += 1) await counters.take([claim(1)]);
    expectWithin(began, 1_000);
  } finally {
    redis.signal("SIGCONT");
  }
  await expect.poll(() => counters.state.isShared).toBe(true);
  expect(await counters.take([claim(0)])).toMatchObject({ used: { a: 51 } });
});

test("restores reservations of a process whose lease expired while it slept", async () => {
  await using closing = new AsyncDisposableStack();
  const store = new PostgresqlStore(await (await sharedPostgres()).createDatabase());
  closing.defer(() => store.close());
  const { epoch } = await store.open(() => {});
  const join = () => store.join("sleeper", { state: "sharing", epoch, hasCounted: false, reserved: [], share: [] });
  await join();
  const taken = await store.take("sleeper", "1", [claim(70)]);
  await store.leave("sleeper");
  expect(await store.take("sleeper", "2", [claim(1)])).toBeUndefined();
  await join();
  expect(await store.take("sleeper", "3", [claim(0)])).toMatchObject({ used: [0] });
  await store.settle("sleeper", { id: "1", takenAt: taken?.now ?? 0 }, [{ ...claim(70), difference: -60 }]);
  expect(await store.take("sleeper", "4", [claim(0)])).toMatchObject({ used: [10] });
});
