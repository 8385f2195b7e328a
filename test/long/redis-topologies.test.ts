/** Counters on Redis as it is run in production, also while another server takes over under load. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { CounterClaim } from "../../src/counters/counters.ts";
import { RedisStore } from "../../src/counters/redis-store.ts";
import { SharedCounters } from "../../src/counters/shared-counters.ts";
import { createLogger } from "../../src/kernel/logger.ts";
import { parseRedisUrl } from "../../src/kernel/redis-address.ts";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { HAS_REDIS, WITHOUT_REDIS } from "../support/databases/redis.ts";
import {
  type RedisTopology,
  startRedisCluster,
  startSentinels,
  startTlsRedis,
} from "../support/databases/redis-topologies.ts";
import { LOAD_MODEL, outcomeOf, sendLoad, startReplicas, untilCountersShared } from "../support/service/limit-load.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

async function openCounters({ url }: RedisTopology): Promise<SharedCounters> {
  const counters = new SharedCounters({
    store: new RedisStore(parseRedisUrl(url)),
    logger: createLogger("silent"),
    onStoreUnavailable: "share",
  });
  cleanup.defer(() => counters.close());
  await counters.firstAttempt();
  return counters;
}

/** Takes one of `claim` every few milliseconds, and resolves with the number granted once `signal` aborts. */
async function takeUntil(counters: SharedCounters, claim: CounterClaim, signal: AbortSignal): Promise<number> {
  let granted = 0;
  while (!signal.aborted) {
    if ((await counters.take([claim])).granted) granted += 1;
    await pause(5);
  }
  return granted;
}

test.skipIf(!HAS_REDIS)(
  `counts over TLS, with a client certificate and a minimal ACL user${WITHOUT_REDIS}`,
  async () => {
    const redis = cleanup.use(await startTlsRedis());
    const counters = await openCounters(redis);
    const other = await openCounters(redis);
    expect(counters.state.isShared).toBe(true);
    const claim = { key: "a", amount: 6, limit: 10, windowSeconds: 60, isReserved: true };
    const taken = await counters.take([claim]);
    expect(taken).toMatchObject({ granted: true });
    expect(await other.take([claim])).toMatchObject({ granted: false, used: { a: 6 } });
    if (taken.granted) await counters.settle(taken.reservation, [{ ...claim, difference: -6 }]);
    expect(await other.take([claim])).toMatchObject({ granted: true });
    await counters.raise("spent", 60, 5);
    await expect.poll(() => counters.state.replicas).toBe(2);
  },
);

test.skipIf(!HAS_REDIS)("reports a connection without TLS to a server that requires it", async () => {
  const redis = cleanup.use(await startTlsRedis());
  const plain = redis.url.replace("rediss", "redis").replace(/\?.*/, "");
  const store = new RedisStore(parseRedisUrl(plain));
  await expect(store.open(() => {})).rejects.toThrow();
  await store.close();
});

test.skipIf(!HAS_REDIS).each([
  ["Sentinels name another primary", startSentinels],
  ["a replica takes over a cluster's slot", startRedisCluster],
])(`never exceeds a limit while %s under load${WITHOUT_REDIS}`, async (_name, start) => {
  const redis = cleanup.use(await start());
  const replicas = [await openCounters(redis), await openCounters(redis)];
  for (const each of replicas) await expect.poll(() => each.state.replicas).toBe(2);
  const claim: CounterClaim = { key: "requests", amount: 1, limit: 2_000, windowSeconds: 600, isReserved: false };
  const ending = new AbortController();
  const load = replicas.map((each) => takeUntil(each, claim, ending.signal));
  await pause(2_000);
  await redis.killPrimary();
  const lostAt = performance.now();
  for (const each of replicas) await expect.poll(() => each.state.isShared).toBe(false);
  for (const each of replicas) await expect.poll(() => each.state.isShared).toBe(true);
  const seconds = (performance.now() - lostAt) / 1000;
  await pause(1_000);
  ending.abort();
  let granted = (await Promise.all(load)).reduce((sum, each) => sum + each, 0);
  // The rest of the limit.
  for (const each of replicas) while ((await each.take([claim])).granted) granted += 1;
  console.log(`on local shares for ${seconds.toFixed(1)} s; granted ${granted} of ${claim.limit}`);
  expect(granted).toBe(claim.limit);
  expect(seconds).toBeLessThan(15);
});

test.skipIf(!HAS_REDIS)(`replicas answer through a failover of Sentinels${WITHOUT_REDIS}`, async () => {
  const redis = cleanup.use(await startSentinels());
  const postgres = await sharedPostgres();
  const environment = { DATABASE_URL: (await postgres.createDatabase()).reveal(), REDIS_URL: redis.url };
  const limits = "limits: { project_model: { requests_per_minute: 300 } }\n";
  const { services, stop } = await startReplicas(2, `${LOAD_MODEL}${limits}`, environment);
  cleanup.defer(stop);
  const bodyOf = () => ({ model: "parrot", messages: [{ role: "user", content: "Hm." }], max_completion_tokens: 5 });
  const sending = sendLoad({ services, clients: 20, seconds: 12, bodyOf });
  await pause(2_000);
  await redis.killPrimary();
  await untilCountersShared(services, 2, 15);
  const outcome = outcomeOf(await sending);
  console.log("failover of Sentinels under load", outcome);
  expect(outcome).toMatchObject({ broken: 0, other: 0 });
  expect(outcome.admitted).toBeGreaterThan(100);
  expect(outcome.admitted).toBeLessThanOrEqual(300);
});
