/** A Redis server that restarts with what it has saved. */

import { createClient } from "@redis/client";
import { expect, test } from "vitest";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../../test/support/databases/redis.ts";
import { createLogger } from "../kernel/logger.ts";
import { parseRedisUrl } from "../kernel/redis-address.ts";
import { RedisStore } from "./redis-store.ts";
import { COUNTERS_PREFIX } from "./redis-windows.ts";
import { SharedCounters } from "./shared-counters.ts";

const MONTH = 2_678_400;
const EPOCH = `${COUNTERS_PREFIX}epoch`;
const claim = (amount: number) => ({ key: "spent", amount, limit: 100, windowSeconds: MONTH, isReserved: true });

async function start() {
  await using closing = new AsyncDisposableStack();
  const redis = closing.use(await startRedis());
  const url = redis.createDatabase();
  const open = async () => {
    const store = new RedisStore(parseRedisUrl(url.reveal()));
    const counters = new SharedCounters({ store, logger: createLogger("silent"), onStoreUnavailable: "share" });
    closing.defer(() => counters.close());
    await counters.firstAttempt();
    return counters;
  };
  const operator = createClient({ url: url.reveal() });
  operator.on("error", () => {});
  await operator.connect();
  closing.defer(() => operator.destroy());
  const [one, other] = [await open(), await open()];
  await expect.poll(() => one.state.replicas).toBe(2);
  const stack = closing.move();
  return { redis, operator, one, other, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test.skipIf(!HAS_REDIS)(
  `counts from zero if its data is older than what replicas have seen${WITHOUT_REDIS}`,
  async () => {
    await using servers = await start();
    const { redis, operator, one, other } = servers;
    const epoch = await operator.get(EPOCH);
    await one.raise("spent", MONTH, 10);
    // As if a replica had counted alone.
    await operator.incr(`${COUNTERS_PREFIX}${epoch} joins`);
    await operator.sendCommand(["SAVE"]);
    const taken = await other.take([claim(30)]);
    if (taken.granted) await other.settle(taken.reservation, []);
    await other.close();
    // Two more, so that the answer to the first has arrived.
    for (let beats = 0; beats < 2; beats += 1) {
      const before = await operator.get(`${COUNTERS_PREFIX}beat`);
      await expect.poll(() => operator.get(`${COUNTERS_PREFIX}beat`)).not.toBe(before);
    }
    await redis.stop();
    await redis.start();
    await expect.poll(() => one.state.isShared).toBe(false);
    await expect.poll(() => one.state.isShared).toBe(true);
    expect(await operator.get(EPOCH)).not.toBe(epoch);
    expect(await one.take([claim(0)])).toMatchObject({ used: { spent: 0 } });
    // Records say what the replica that has left has spent.
    await one.raise("spent", MONTH, 40);
    expect(await one.take([claim(0)])).toMatchObject({ used: { spent: 40 } });
    // Of the epoch before, what does not expire is gone.
    const earlier = await operator.keys(`${COUNTERS_PREFIX}${epoch} *`);
    const lifetimes = await Promise.all(earlier.map((key) => operator.ttl(key)));
    expect(earlier.filter((_key, index) => (lifetimes[index] ?? 0) < 0)).toEqual([]);
  },
);

test.skipIf(!HAS_REDIS)(`goes on with data that it saved when it stopped${WITHOUT_REDIS}`, async () => {
  await using servers = await start();
  const { redis, operator, one, other } = servers;
  await one.raise("spent", MONTH, 10);
  await other.take([claim(30)]);
  const epoch = await operator.get(EPOCH);
  await operator.sendCommand(["SHUTDOWN", "SAVE"]).catch(() => {});
  await redis.start();
  await expect.poll(() => one.state.isShared && other.state.isShared).toBe(true);
  expect(await operator.get(EPOCH)).toBe(epoch);
  expect(await one.take([claim(0)])).toMatchObject({ used: { spent: 40 } });
});
