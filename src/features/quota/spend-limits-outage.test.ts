/** Spend limits of two replicas whose shared counters are away or lost, with usage records that they still read. */

import { expect, onTestFinished, test } from "vitest";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../../../test/support/databases/redis.ts";
import { RedisStore } from "../../counters/redis-store.ts";
import { SharedCounters } from "../../counters/shared-counters.ts";
import type { QuotaClaim } from "../../inference/quota.ts";
import { createLogger } from "../../kernel/logger.ts";
import { parseRedisUrl } from "../../kernel/redis-address.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import { spendBounds } from "../budgets/spend-bounds.ts";
import { CompletionEstimates } from "./completion-estimates.ts";
import { SpendLimits } from "./spend-limits.ts";

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

async function startReplicas() {
  const redis = await startRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const address = parseRedisUrl(redis.createDatabase().reveal());
  const logger = createLogger("silent");
  /** What the usage records say, in cents. */
  const recorded = { cents: 0 };
  /** What is spent and waits to be recorded. */
  const late = { cents: 0 };
  const start = async () => {
    const store = new RedisStore(address);
    const counters = new SharedCounters({ store, logger, onStoreUnavailable: "share" });
    onTestFinished(() => counters.close());
    await counters.firstAttempt();
    counters.beforeReturn(async () => {
      recorded.cents += late.cents;
      late.cents = 0;
    });
    const limit = { scopeId: "proj_a", organizationId: "org_a", thresholdCents: LIMIT_CENTS };
    const spendLimitsOf = () => [{ ...limit, isEnforcing: 1, begunAt: 1, updatedAt: 1 }];
    const sources = { spendLimitsOf, budgetsOf: () => [], summedLabel: () => ({ kind: "tag", value: "" }) as const };
    const limits = new SpendLimits({
      ...{ counters, logger, estimates: new CompletionEstimates(), onRefused: () => {} },
      boundsOf: (...request) => spendBounds(sources, ...request),
      spentIn: async () => recorded.cents * CENT,
    });
    const reserve = async (cents: number) => limits.reserve(claimOf(cents));
    const spend = async (cents: number) => {
      const reservation = await reserve(cents);
      recorded.cents += cents;
      reservation.settle(NO_USAGE, cents * CENT);
    };
    return { counters, reserve, spend };
  };
  const [one, two] = [await start(), await start()];
  const untilShared = () =>
    expect.poll(() => [one, two].map(({ counters }) => counters.state)).toEqual(Array(2).fill(TOGETHER));
  await untilShared();
  return { redis, one, two, late, untilShared };
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
  const { redis, one, late, untilShared } = await startReplicas();
  await one.spend(1);
  await redis.stop();
  late.cents = 80;
  await redis.start();
  await untilShared();
  await one.spend(19);
  await expect(one.reserve(1)).rejects.toMatchObject({ kind: "quota-exhausted" });
});
