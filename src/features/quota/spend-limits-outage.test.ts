/** Spend limits of replicas and workers whose counters are away or lost, with usage records that they still read. */

import { createClient } from "@redis/client";
import { expect, onTestFinished, test } from "vitest";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../../../test/support/databases/redis.ts";
import { workerOf } from "../../../test/support/service/worker-counters.ts";
import type { Counters } from "../../counters/counters.ts";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { RedisStore } from "../../counters/redis-store.ts";
import { SharedCounters } from "../../counters/shared-counters.ts";
import type { QuotaClaim } from "../../inference/quota.ts";
import { createLogger } from "../../kernel/logger.ts";
import { parseRedisUrl } from "../../kernel/redis-address.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import { spendBounds } from "../budgets/spend-bounds.ts";
import { CompletionEstimates } from "./completion-estimates.ts";
import { SpendLimits } from "./spend-limits.ts";

const logger = createLogger("silent");
const CENT = 1e7;
const LIMIT_CENTS = 100;

const caller = { kind: "project", organizationId: "org_a", projectId: "proj_a", keyId: "key_a" } as const;

/** Request that costs a cent per token. */
function claimOf(cents: number): QuotaClaim {
  const upperBound = { promptTokens: 0, completionTokens: cents, audioBytes: 0, characters: 0 };
  const charges = () => [{ price: { completion: "0.01" }, factors: [] }];
  const model = "parrot";
  const startedAt = Date.now();
  return { caller, model, catalogId: model, upperBound: () => upperBound, operation: "chat", charges, startedAt };
}

/** What the usage records say, in cents. */
interface Records {
  cents: number;
  /** What is spent and waits to be recorded. */
  late: number;
  isAway: boolean;
}

function limitsOn(counters: Counters, records: Records) {
  const limit = { scopeId: "proj_a", organizationId: "org_a", thresholdCents: LIMIT_CENTS };
  const spendLimitsOf = () => [{ ...limit, isEnforcing: 1, begunAt: 1, updatedAt: 1 }];
  const sources = { spendLimitsOf, budgetsOf: () => [], summedLabel: () => ({ kind: "tag", value: "" }) as const };
  const limits = new SpendLimits({
    ...{ counters, logger, estimates: new CompletionEstimates(), onRefused: () => {} },
    boundsOf: (...request) => spendBounds(sources, ...request),
    spentIn: async () => {
      if (records.isAway) throw new Error("the database is away");
      return records.cents * CENT;
    },
  });
  const reserve = async (cents: number) => limits.reserve(claimOf(cents));
  const spend = async (cents: number) => {
    const reservation = await reserve(cents);
    reservation.settle(NO_USAGE, cents * CENT);
    await counters.settled();
    records.cents += cents;
  };
  /** In dollars, by the message of a refusal. */
  const used = () => reserve(10 * LIMIT_CENTS).then(String, (error) => /Used \$([\d.]+)/.exec(String(error))?.[1]);
  return { counters, reserve, spend, used };
}

async function startStore() {
  const redis = await startRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const url = redis.createDatabase();
  const address = parseRedisUrl(url.reveal());
  const records: Records = { cents: 0, late: 0, isAway: false };
  /** `mayOpen`: what the replica waits for whenever it connects. */
  const start = async (mayOpen?: () => Promise<unknown>) => {
    const store = new RedisStore(address);
    const open = store.open.bind(store);
    store.open = async (...given) => {
      await mayOpen?.();
      return open(...given);
    };
    const counters = new SharedCounters({ store, logger, onStoreUnavailable: "share" });
    onTestFinished(() => counters.close());
    await counters.firstAttempt();
    counters.beforeReturn(async () => {
      records.cents += records.late;
      records.late = 0;
    });
    return limitsOn(counters, records);
  };
  return { redis, url, records, start };
}

async function startReplicas() {
  const { redis, records, start } = await startStore();
  const [one, two] = [await start(), await start()];
  const untilShared = () =>
    expect.poll(() => [one, two].map(({ counters }) => counters.state)).toEqual(Array(2).fill(TOGETHER));
  await untilShared();
  return { redis, one, two, records, untilShared };
}

const TOGETHER = { isShared: true, replicas: 2 };

test.skipIf(!HAS_REDIS)(
  `counts requests that ran while the counts were lost, at their end${WITHOUT_REDIS}`,
  async () => {
    const { redis, one, two, untilShared } = await startReplicas();
    const running = await one.reserve(60);
    await redis.stop();
    await redis.start();
    await untilShared();
    await two.spend(1);
    running.settle(NO_USAGE, 50 * CENT);
    await expect.poll(() => two.reserve(LIMIT_CENTS).catch(String)).toContain("$0.51");
    await two.spend(49);
    await expect(one.reserve(1)).rejects.toMatchObject({ kind: "quota-exhausted" });
  },
);

test.skipIf(!HAS_REDIS)(`divides what the others have left, without the counts${WITHOUT_REDIS}`, async () => {
  const { redis, one, two } = await startReplicas();
  await two.spend(1);
  // From here on, the second replica asks the store nothing of this limit.
  await one.spend(89);
  await redis.stop();
  const granted = { one: 0, two: 0 };
  for (let request = 0; request < 20; request += 1) {
    for (const [name, { spend }] of [
      ["one", one],
      ["two", two],
    ] as const) {
      await spend(1).then(
        () => (granted[name] += 1),
        () => {},
      );
    }
  }
  expect(granted.one + granted.two).toBeLessThanOrEqual(LIMIT_CENTS - 90);
  expect(granted.two).toBeGreaterThan(0);
});

test.skipIf(!HAS_REDIS)(`begins again with what no replica had recorded yet${WITHOUT_REDIS}`, async () => {
  const { redis, one, records, untilShared } = await startReplicas();
  await one.spend(1);
  await redis.stop();
  records.late = 80;
  await redis.start();
  await untilShared();
  await one.spend(19);
  await expect(one.reserve(1)).rejects.toMatchObject({ kind: "quota-exhausted" });
});

test.skipIf(!HAS_REDIS)(
  `counts what a replica has spent before it first reached the store${WITHOUT_REDIS}`,
  async () => {
    const { start, records } = await startStore();
    const one = await start();
    await one.spend(1);
    let isAway = true;
    const two = await start(async () => {
      if (isAway) throw new Error("unreachable");
    });
    await two.spend(60);
    isAway = false;
    await expect.poll(() => two.counters.state).toEqual(TOGETHER);
    expect(records.cents).toBe(61);
    expect([await one.used(), await two.used()]).toEqual(["0.610000", "0.610000"]);
  },
);

test.skipIf(!HAS_REDIS)(
  `counts what a replica has spent alone while the others lost the counts${WITHOUT_REDIS}`,
  async () => {
    const { redis, start } = await startStore();
    let isCut = false;
    const one = await start();
    const two = await start(async () => {
      if (isCut) throw new Error("unreachable");
    });
    await expect.poll(() => one.counters.state).toEqual(TOGETHER);
    await one.spend(1);
    await two.spend(1);
    isCut = true;
    await redis.stop();
    await redis.start();
    await expect.poll(() => two.counters.state.isShared).toBe(false);
    await two.spend(40);
    await expect.poll(() => one.counters.state.isShared).toBe(true);
    await one.spend(1);
    isCut = false;
    await expect.poll(() => two.counters.state.isShared).toBe(true);
    expect([await one.used(), await two.used()]).toEqual(["0.430000", "0.430000"]);
  },
);

test.skipIf(!HAS_REDIS)(`counts a window once that two replicas have begun in an outage${WITHOUT_REDIS}`, async () => {
  const { redis, start } = await startStore();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isOut = false;
  const [one, two] = [
    await start(async () => isOut && (await gates[0]?.promise)),
    await start(async () => isOut && (await gates[1]?.promise)),
  ];
  await expect.poll(() => one.counters.state).toEqual(TOGETHER);
  await expect.poll(() => two.counters.state).toEqual(TOGETHER);
  isOut = true;
  await redis.stop();
  await redis.start();
  await expect.poll(() => one.counters.state.isShared || two.counters.state.isShared).toBe(false);
  await one.spend(45);
  await two.spend(1);
  for (const gate of gates.reverse()) gate.resolve();
  await expect.poll(() => one.counters.state.isShared && two.counters.state.isShared).toBe(true);
  expect([await one.used(), await two.used()]).toEqual(["0.460000", "0.460000"]);
});

test.skipIf(!HAS_REDIS)(`counts what a store has forgotten in which all replicas begin${WITHOUT_REDIS}`, async () => {
  const { redis, url, start } = await startStore();
  const one = await start();
  await one.spend(10);
  const operator = await createClient({ url: url.reveal() }).connect();
  await operator.sendCommand(["SAVE"]);
  operator.destroy();
  await one.spend(80);
  await redis.stop();
  await one.counters.close();
  await redis.start();
  const next = await start();
  expect(await next.used()).toBe("0.900000");
});

test("takes what other workers have reserved for no recorded spending", async () => {
  const counters = new InMemoryCounters();
  onTestFinished(() => counters.close());
  const records: Records = { cents: 50, late: 0, isAway: true };
  const [one, two] = [limitsOn(counters, records), limitsOn(counters, records)];
  const running = await one.reserve(40);
  records.isAway = false;
  await two.spend(1);
  expect(await two.used()).toBe("0.910000");
  running.settle(NO_USAGE, 40 * CENT);
  await expect(two.reserve(10)).rejects.toMatchObject({ kind: "quota-exhausted" });
});

test.skipIf(!HAS_REDIS)(
  `refuses in a worker what exceeds the limit after the counts were lost${WITHOUT_REDIS}`,
  async () => {
    const { redis, records, start } = await startStore();
    const owner = await start();
    records.cents = 95;
    const [one, two] = [limitsOn(workerOf(owner.counters), records), limitsOn(workerOf(owner.counters), records)];
    await one.spend(1);
    const running = await two.reserve(2);
    await redis.stop();
    await redis.start();
    await expect.poll(() => owner.counters.state.isShared).toBe(false);
    await expect.poll(() => owner.counters.state.isShared).toBe(true);
    const burst = await Promise.allSettled(Array.from({ length: 9 }, () => one.reserve(3)));
    expect(burst.filter(({ status }) => status === "fulfilled")).toEqual([]);
    running.settle(NO_USAGE, 2 * CENT);
    expect(await one.used()).toBe("0.980000");
  },
);
