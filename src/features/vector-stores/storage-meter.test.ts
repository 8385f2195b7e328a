import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import type { Caller } from "../../contracts/caller.ts";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { DAY_MS, DAY_SECONDS, HOUR_MS } from "../../kernel/durations.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { toUsagePage } from "../../wire/openai/organization/organization-usage-pages.ts";
import { Accounts } from "../accounts/accounts.ts";
import { spendBounds } from "../budgets/spend-bounds.ts";
import { CompletionEstimates } from "../quota/completion-estimates.ts";
import { putSpendLimit } from "../quota/spend-limit-queries.ts";
import { SpendLimits } from "../quota/spend-limits.ts";
import type { UsageLabel } from "../usage/usage-batch.ts";
import { UsageReports } from "../usage/usage-report.ts";
import { recordStorage, type StorageMeterOptions, storageCost } from "./storage-meter.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

/** 06:20 on a day. */
const NOW = 20_000 * DAY_MS + 6 * HOUR_MS + 20 * 60_000;
const GIGABYTE = 1e9;
/** Scopes with spend limits. */
const LIMITED = ["org", "one", "two", "key_one"];

/** The cost of an hour at these limits, in nano-dollars. */
const COST = { org: 27_500_000, one: 15_000_000, two: 12_500_000, key_one: 15_000_000 };

async function fill(database: Database): Promise<void> {
  const common = { isDefault: 0, createdAt: 1, archivedAt: null };
  const store = {
    ...{ name: "", description: null, metadata: null, embeddingModel: "m", dimensions: 1, version: 1, createdAt: 1 },
    ...{ lastActiveAt: 1, expiresAfterDays: null, expiresAt: null, deletedAt: null },
  };
  const file = {
    ...({
      batchId: null,
      filename: "f",
      status: "completed",
      errorCode: null,
      errorMessage: null,
    } as const),
    ...{ maxTokens: 800, overlapTokens: 400, attributes: null, chunks: 1, createdAt: 1, attempts: 1, runId: null },
    dueAt: 0,
  };
  await database.transaction(async (executor) => {
    await executor
      .insertInto("organizations")
      .values({ ...common, id: "org", name: "A" })
      .execute();
    for (const id of ["one", "two", "empty"])
      await executor
        .insertInto("projects")
        .values({ ...common, id, organizationId: "org", name: id })
        .execute();
    for (const projectId of ["one", "two"])
      await executor
        .insertInto("apiKeys")
        .values({
          ...{ id: `key_${projectId}`, organizationId: "org", projectId, kind: "project", name: projectId },
          ...{ keyHash: projectId, redactedValue: "sk-...", serviceAccountId: null, userId: null, isFixed: 0 },
          ...{ createdAt: 1, expiresAt: null, lastUsedAt: null },
          // Its project pays for what it added.
          revokedAt: projectId === "one" ? 2 : null,
        })
        .execute();
    for (const scopeId of LIMITED) {
      const limit = { thresholdCents: 1, isEnforcing: 1, begunAt: 1, updatedAt: 1 };
      await putSpendLimit(executor, { ...limit, scopeId, organizationId: "org" });
    }
    for (const [id, projectId, deletedAt] of [
      ["vs_a", "one", null],
      ["vs_b", "two", null],
      ["vs_gone", "one", 5],
      ["vs_empty", "empty", null],
    ] as const)
      await executor
        .insertInto("vectorStores")
        .values({ ...store, id, projectId, deletedAt })
        .execute();
    for (const [id, vectorStoreId, projectId, usageBytes, createdAt] of [
      ["file_1", "vs_a", "one", GIGABYTE, 1],
      ["file_2", "vs_a", "one", 2 * GIGABYTE, 1],
      ["file_3", "vs_b", "two", 5 * GIGABYTE, 1],
      ["file_4", "vs_gone", "one", GIGABYTE, 1],
      ["file_5", "vs_empty", "empty", 0, 1],
      // Added within the hour that is not over.
      ["file_6", "vs_a", "one", GIGABYTE, NOW - 60_000],
    ] as const) {
      const keyId = `key_${projectId}`;
      const row = { ...file, id, vectorStoreId, projectId, keyId, usageBytes, createdAt, additionId: `add_${id}` };
      await executor.insertInto("vectorStoreFiles").values(row).execute();
    }
  });
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  async function open(replicas: number, price: string | null = "0.12") {
    const options = await databases.create(kind);
    const { logger } = options;
    const counters = new InMemoryCounters();
    closing.defer(() => counters.close());
    /** What the limits have counted, by scope. */
    const spent: Record<string, number> = {};
    const meters: StorageMeterOptions[] = [];
    for (let replica = 0; replica < replicas; replica += 1) {
      const database = openDatabase(options);
      closing.defer(() => database.close());
      if (replica === 0) await fill(database);
      const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
      closing.defer(() => accounts.close());
      const sources = {
        spendLimitsOf: (caller: Caller) => accounts.callers.policyOf(caller, "spendLimits"),
        budgetsOf: (caller: Caller) => accounts.callers.policyOf(caller, "budgets"),
        summedLabel: (_projectId: string, label: UsageLabel) => label,
      };
      const usage = new UsageReports(database);
      const inference = new SpendLimits({
        ...{ counters, logger, estimates: new CompletionEstimates(), onRefused: () => {} },
        boundsOf: (caller, at) => spendBounds(sources, caller, at),
        spentIn: (scope, window) => usage.spentIn(scope, window),
        onSpent: ({ bound, atMost }) => {
          spent[bound.scope.id] = atMost;
        },
      });
      meters.push({
        ...{ database, logger, accounts, inference },
        pricePerGigabyteDay: () => price ?? undefined,
        factorsOf: (projectId) => (projectId === "two" ? ["0.5"] : []),
      });
    }
    const [first] = meters;
    if (first === undefined) throw new Error("no replica");
    const reports = new UsageReports(first.database);
    const read = async (from = NOW - DAY_MS, until = NOW + DAY_MS) => {
      const order = {
        organizationId: "org",
        operation: "storage",
        bucketSeconds: DAY_SECONDS,
        maxBuckets: 31,
      } as const;
      return await reports.read({ ...order, from, until, groupBy: ["projectId"] });
    };
    const sums = async (...range: number[]) =>
      (await read(...range)).buckets
        .flatMap((bucket) => bucket.sums)
        .map((sum) => ({
          project: sum.projectId,
          byteHours: sum.storedByteHours,
          cost: sum.costNanoDollars,
          requests: sum.requests,
        }));
    return { meters, first, spent, read, sums };
  }

  test("records an hour once, though all replicas try, at the price and the project's discount", async () => {
    const { meters, spent, sums, read } = await open(3);
    await Promise.all(meters.map((meter) => recordStorage(meter, NOW)));
    await Promise.all(meters.map((meter) => recordStorage(meter, NOW + 1_000)));
    // 3 GB × $0.12 / 24, and 5 GB × $0.12 × 0.5 / 24.
    expect(await sums()).toEqual([
      { project: "one", byteHours: 3 * GIGABYTE, cost: 15_000_000, requests: 0 },
      { project: "two", byteHours: 5 * GIGABYTE, cost: 12_500_000, requests: 0 },
    ]);
    expect(spent).toEqual(COST);
    const page = toUsagePage("vector_stores", await read());
    const results = page.data.flatMap((bucket) => bucket.results);
    expect(results).toMatchObject([
      { object: "organization.usage.vector_stores.result", project_id: "one", usage_bytes: (3 * GIGABYTE) / 24 },
      { project_id: "two", usage_bytes: Math.round((5 * GIGABYTE) / 24), num_model_requests: 0 },
    ]);
  });

  test("a day of hours costs the price of a day, also when the service was off for some of them", async () => {
    const { first, sums } = await open(1);
    const midnight = 20_001 * DAY_MS;
    await recordStorage(first, midnight + HOUR_MS);
    await recordStorage(first, midnight + 2 * HOUR_MS);
    // Off until the next day has begun.
    await recordStorage(first, midnight + DAY_MS + HOUR_MS / 2);
    const [one] = await sums(midnight, midnight + DAY_MS);
    // 4 GB × $0.12, of which a gigabyte came later than the first test's hour.
    expect(one).toEqual({ project: "one", byteHours: 24 * 4 * GIGABYTE, cost: 480_000_000, requests: 0 });
  });

  test("records sizes without a price, and no price as unknown", async () => {
    const { first, sums, spent } = await open(1, null);
    await recordStorage(first, NOW);
    expect(await sums()).toMatchObject([
      { byteHours: 3 * GIGABYTE, cost: null },
      { byteHours: 5 * GIGABYTE, cost: null },
    ]);
    expect(spent).toEqual({});
  });
});

test("rounds the cost of an hour once", () => {
  expect(storageCost("0.1", [], 1)).toBe(0);
  expect(storageCost("0.1", [], 1_000_000_000)).toBe(4_166_667);
  expect(storageCost("0.1", ["0.9", "1.1"], 123_456_789_012)).toBe(Math.round((123.456789012 * 0.1 * 0.99 * 1e9) / 24));
});
