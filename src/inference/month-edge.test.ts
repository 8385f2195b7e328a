/** Spend limits and usage records count a request that runs over the end of a month in the same month. */

import { afterEach, expect, test } from "vitest";
import { InMemoryCounters } from "../counters/in-memory-counters.ts";
import { type SpendBoundSources, spendBounds } from "../features/budgets/spend-bounds.ts";
import { CompletionEstimates } from "../features/quota/completion-estimates.ts";
import { SpendLimits } from "../features/quota/spend-limits.ts";
import { toUsageRecord } from "../features/usage/to-usage-record.ts";
import { UsageRows } from "../features/usage/usage-batch.ts";
import { writeUsage } from "../features/usage/usage-queries.ts";
import { UsageReports } from "../features/usage/usage-report.ts";
import { createLogger } from "../kernel/logger.ts";
import { NO_USAGE } from "../kernel/usage.ts";
import { openDatabase } from "../storage/database.ts";
import type { Settlement } from "./settlement.ts";

const JANUARY = Date.UTC(2026, 0);
const FEBRUARY = Date.UTC(2026, 1);
const MARCH = Date.UTC(2026, 2);
const STARTED_AT = FEBRUARY - 1_000;
const ENDED_AT = FEBRUARY + 9_000;
const TENTH_OF_DOLLAR = 1e8;

const caller = { kind: "project", organizationId: "org_a", projectId: "proj_a", keyId: "key_a" } as const;

const closing = new AsyncDisposableStack();
afterEach(() => closing.disposeAsync());

test("counts a request that ends in the next month in the month in which it started", async () => {
  const logger = createLogger("silent");
  const database = openDatabase({ url: undefined, file: ":memory:", logger });
  closing.defer(() => database.close());
  const reports = new UsageReports(database);
  const limit = {
    ...{ scopeId: "proj_a", organizationId: "org_a", thresholdCents: 100 },
    ...{ isEnforcing: 1, begunAt: 1, updatedAt: 1 },
  };
  const sources: SpendBoundSources = {
    spendLimitsOf: () => [limit],
    budgetsOf: () => [],
    summedLabel: (_project, label) => label,
  };
  /** Like a new process: its counters start with the amounts in the database. */
  const startLimits = () => {
    const counters = new InMemoryCounters();
    closing.defer(() => counters.close());
    return new SpendLimits({
      counters,
      boundsOf: (...request) => spendBounds(sources, ...request),
      spentIn: (scope, window) => reports.spentIn(scope, window),
      estimates: new CompletionEstimates(),
      logger,
      onRefused: () => {},
    });
  };
  const reserve = (limits: SpendLimits, startedAt: number, completionTokens: number) => {
    const upperBound = { promptTokens: 0, completionTokens, audioBytes: 0, characters: 0 };
    const charges = () => [{ price: { completion: "0.1" }, factors: [] }];
    const model = "parrot";
    const task = { model, catalogId: model, operation: "chat", charges } as const;
    return Promise.resolve(limits.reserve({ caller, ...task, upperBound: () => upperBound, startedAt }));
  };

  const running = startLimits();
  const reservation = await reserve(running, STARTED_AT, 5);
  const used = { ...NO_USAGE, completionTokens: 2 };
  const costNanoDollars = 2 * TENTH_OF_DOLLAR;
  reservation.settle(used, costNanoDollars);
  const settlement: Settlement = {
    caller,
    operation: "chat",
    requestedModel: "parrot",
    catalogId: "parrot",
    model: "parrot",
    costNanoDollars,
    comparedCostNanoDollars: null,
    costParts: undefined,
    deployment: "one",
    engine: "scripted",
    deploymentEntry: "one",
    attempts: 1,
    queuedSeconds: 0,
    stages: [],
    outcome: "finished",
    used,
    startedAt: STARTED_AT,
    durationSeconds: (ENDED_AT - STARTED_AT) / 1000,
    firstTokenSeconds: 1,
  };
  const record = toUsageRecord(settlement, ENDED_AT);
  if (record === undefined) throw new Error("no record");
  const { dimensions, values } = UsageRows.of([record]);
  await database.transaction((transaction) =>
    writeUsage(transaction, [{ writer: "one", number: 1, dimensions, values }], ENDED_AT),
  );

  const spentIn = (from: number, until: number) => reports.spentBetween(caller, "proj_a", { from, until });
  expect(await spentIn(JANUARY, FEBRUARY)).toBe(costNanoDollars);
  expect(await spentIn(FEBRUARY, MARCH)).toBe(0);
  for (const limits of [running, startLimits()]) {
    await expect(reserve(limits, STARTED_AT, 9)).rejects.toMatchObject({ kind: "quota-exhausted" });
    await reserve(limits, STARTED_AT, 8);
    await reserve(limits, ENDED_AT, 10);
  }
});
