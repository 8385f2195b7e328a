import { afterEach, describe, expect, test, vi } from "vitest";
import { costInNanoDollars } from "../../catalog/prices/cost.ts";
import { PRICE_UNITS, type Price } from "../../contracts/price.ts";
import { TASKS } from "../../contracts/task.ts";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { NO_UPPER_BOUND } from "../../inference/adapters/task-adapter.ts";
import type { QuotaClaim } from "../../inference/quota.ts";
import { createLogger } from "../../kernel/logger.ts";
import { NO_USAGE, type Operation, type Usage } from "../../kernel/usage.ts";
import { spendBounds } from "../budgets/spend-bounds.ts";
import type { UsageLabel } from "../usage/usage-batch.ts";
import { CompletionEstimates } from "./completion-estimates.ts";
import { SpendLimits, type SpendLimitsOptions } from "./spend-limits.ts";

const DOLLAR = 1e9;

const caller = { kind: "project", organizationId: "org_a", projectId: "proj_a", keyId: "key_a" } as const;

function claimOf(completionTokens: number, startedAt = Date.now()): QuotaClaim {
  const upperBound = { promptTokens: 0, completionTokens, audioBytes: 0, characters: 0 };
  const charges = () => [{ price: { completion: "0.1" }, factors: [] }];
  const model = "parrot";
  return { caller, model, catalogId: model, upperBound: () => upperBound, operation: "chat", charges, startedAt };
}

let counters = new InMemoryCounters();
afterEach(async () => {
  vi.useRealTimers();
  await counters.close();
  counters = new InMemoryCounters();
});

function start(thresholdCents: number, spentIn: SpendLimitsOptions["spentIn"]) {
  const limit = {
    scopeId: "proj_a",
    organizationId: "org_a",
    thresholdCents,
    isEnforcing: 1,
    begunAt: 1,
    updatedAt: 1,
  };
  const sources = {
    spendLimitsOf: () => [limit],
    budgetsOf: () => [],
    summedLabel: (_project: string, label: UsageLabel) => label,
  };
  const logger = createLogger("silent");
  const parts = { counters, logger, estimates: new CompletionEstimates(), onRefused: () => {} };
  const limits = new SpendLimits({ ...parts, boundsOf: (...request) => spendBounds(sources, ...request), spentIn });
  const spend = async () => {
    const reservation = await limits.reserve(claimOf(1));
    reservation.settle({ ...NO_USAGE, completionTokens: 1 }, DOLLAR / 10);
  };
  return { limits, spend };
}

test("counts spending during a database outage once after it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let spent: number | undefined;
  const { spend } = start(100, async () => {
    if (spent === undefined) throw new Error("away");
    return spent;
  });
  for (let request = 0; request < 4; request += 1) await spend();
  // The two tenths from before plus the four.
  spent = 0.6 * DOLLAR;
  vi.advanceTimersByTime(1_000);
  for (let request = 0; request < 4; request += 1) await spend();
  await expect(spend()).rejects.toMatchObject({ kind: "quota-exhausted" });
});

test("does not take what running requests have reserved for spending that was recorded", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let spent: number | undefined;
  const { limits, spend } = start(100, async () => {
    if (spent === undefined) throw new Error("away");
    return spent;
  });
  const running = [await limits.reserve(claimOf(4)), await limits.reserve(claimOf(4))];
  spent = 0.9 * DOLLAR;
  vi.advanceTimersByTime(1_000);
  await expect(spend()).rejects.toMatchObject({ kind: "quota-exhausted" });
  for (const reservation of running) reservation.settle(NO_USAGE, 0);
  await spend();
  await expect(spend()).rejects.toMatchObject({ kind: "quota-exhausted" });
});

test("counts a cost that no request causes once, and beyond the limit", async () => {
  let recorded = 0.5 * DOLLAR;
  const { limits, spend } = start(100, async () => recorded);
  recorded += 0.3 * DOLLAR;
  await limits.countRecorded(caller, Date.now());
  await spend();
  await spend();
  await expect(spend()).rejects.toMatchObject({ kind: "quota-exhausted" });
  // No limit refuses it. The requests are recorded, too.
  recorded += 5.2 * DOLLAR;
  await limits.countRecorded(caller, Date.now());
  await expect(spend()).rejects.toThrow("6.00");
});

test("estimates each choice separately without max_tokens, and learns from each", async () => {
  const { limits } = start(10_000, async () => 0);
  const unbounded = { promptTokens: 0, completionTokens: undefined, audioBytes: 0, characters: 0 };
  const claim = { ...claimOf(0), upperBound: () => unbounded };
  // The initial estimate of an answer is 512 tokens, which cost $51.20.
  await expect(limits.reserve({ ...claim, choices: 2 })).rejects.toMatchObject({ kind: "quota-exhausted" });
  await limits.reserve(claim);
  const estimates = new CompletionEstimates();
  const { caller } = claim;
  estimates.learn({ caller, model: "parrot", choices: 10 }, 100);
  expect([1, 3].map((choices) => estimates.estimate({ caller, model: "parrot", choices }))).toEqual([10, 30]);
});

test("starts a new month with what that month has cost", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 31) });
  const asked: number[][] = [];
  const { limits } = start(100, async (_scope, { from, until }) => {
    asked.push([from, until]);
    return DOLLAR / 2;
  });
  const reserve = () => limits.reserve(claimOf(3));
  await reserve();
  await expect(reserve()).rejects.toMatchObject({ kind: "quota-exhausted" });
  vi.setSystemTime(Date.UTC(2026, 1, 1));
  await reserve();
  await expect(reserve()).rejects.toMatchObject({ kind: "quota-exhausted" });
  // A request that started in January still counts there.
  vi.setSystemTime(Date.UTC(2026, 0, 31));
  await expect(reserve()).rejects.toMatchObject({ kind: "quota-exhausted" });
  const [january, february, march] = [Date.UTC(2026, 0), Date.UTC(2026, 1), Date.UTC(2026, 2)];
  expect(asked).toEqual([
    [january, february],
    [february, march],
  ]);
});

test("does not query an unavailable database per request, nor wait long for a slow one", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let asked = 0;
  let answer: () => Promise<number> = async () => {
    throw new Error("away");
  };
  const { spend } = start(100, () => {
    asked += 1;
    return answer();
  });
  for (let request = 0; request < 4; request += 1) await spend();
  expect(asked).toBe(1);
  answer = () => new Promise(() => {});
  vi.advanceTimersByTime(1_000);
  const reserved = spend();
  await vi.advanceTimersByTimeAsync(2_000);
  await reserved;
  expect(asked).toBe(2);
});

test("rejects an excessive max_tokens with an amount that counters can represent", async () => {
  const asked: number[] = [];
  const { limits } = start(100, async () => 0);
  const take = counters.take.bind(counters);
  counters.take = async (claims) => {
    asked.push(...claims.map(({ amount }) => amount));
    return take(claims);
  };
  const refused = limits.reserve(claimOf(Number.MAX_SAFE_INTEGER));
  await expect(refused).rejects.toMatchObject({ kind: "quota-exhausted" });
  expect(asked.every((amount) => Number.isSafeInteger(amount))).toBe(true);
});

describe("counts what is billed, also where a request has no upper bound:", () => {
  /** Of every unit that some price counts. */
  const used: Usage = {
    ...{ promptTokens: 900, cachedTokens: 300, completionTokens: 900, reasoningTokens: 100, estimated: false },
    ...{ characters: 900, audioSeconds: 900 },
    details: {
      ...{ cacheWriteTokens: 200, cacheWriteHourTokens: 100, inputAudioTokens: 200, cachedAudioTokens: 100 },
      ...{ inputImageTokens: 100, outputAudioTokens: 100, outputImageTokens: 100, inputAudioSeconds: 900, images: 9 },
      ...{ toolCalls: { web_search: 9 }, serviceTier: "flex" },
    },
  };
  const units = PRICE_UNITS.map((unit): [string, Price] => [unit, { [unit]: "0.02" }]);
  const prices: [string, Price][] = [
    ...units,
    ["tool calls", { tool_calls: { web_search: "0.02" } }],
    ["a tier", { prompt: "0", tiers: [{ service_tier: "flex", prompt: "0.02" }] }],
  ];
  const operations: Operation[] = [...TASKS, "tool"];
  const billed = operations.flatMap((operation) =>
    prices
      .map(([unit, price]) => {
        const charge = { price, factors: [] };
        return { operation, unit, charge, cost: costInNanoDollars(charge, operation, used) ?? 0 };
      })
      .filter(({ cost }) => cost > 0),
  );

  test.each(billed)("$operation by $unit", async ({ operation, charge, cost }) => {
    const { limits } = start(3, async () => 0);
    const claim = { ...claimOf(0), operation, charges: () => [charge], upperBound: () => NO_UPPER_BOUND };
    (await limits.reserve(claim)).settle(used, cost);
    await expect(limits.reserve(claim)).rejects.toThrow(`Used $${(cost / DOLLAR).toFixed(6)}`);
  });

  test("each operation has prices", () => {
    expect([...new Set(billed.map(({ operation }) => operation))]).toEqual(operations);
  });
});

test.each([
  ["no price", {}],
  ["a price of 0", { prompt: "0", completion: "0" }],
])("admits requests with %s beyond the limit", async (_what, price) => {
  const { limits, spend } = start(10, async () => 0);
  await spend();
  await expect(spend()).rejects.toMatchObject({ kind: "quota-exhausted" });
  expect((await limits.reserve({ ...claimOf(1), charges: () => [{ price, factors: [] }] })).rateLimitStatus).toEqual(
    {},
  );
  await limits.reserve({ ...claimOf(1), charges: () => [] });
});
