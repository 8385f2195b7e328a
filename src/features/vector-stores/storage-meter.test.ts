import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import type { Caller } from "../../contracts/caller.ts";
import { DAY_MS, DAY_SECONDS, HOUR_MS } from "../../kernel/durations.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { toUsagePage } from "../../wire/openai/organization/organization-usage-pages.ts";
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
const CALLER: Caller = { keyId: "key", organizationId: "org", projectId: "one", kind: "project" };

async function fill(database: Database): Promise<void> {
  const common = { isDefault: 0, createdAt: 1, archivedAt: null };
  const store = {
    ...{ name: "", description: null, metadata: null, embeddingModel: "m", dimensions: 1, version: 1, createdAt: 1 },
    ...{ lastActiveAt: 1, expiresAfterDays: null, expiresAt: null, deletedAt: null },
  };
  const file = {
    ...({
      batchId: null,
      keyId: "key",
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
      const row = { ...file, id, vectorStoreId, projectId, usageBytes, createdAt, additionId: `add_${id}` };
      await executor.insertInto("vectorStoreFiles").values(row).execute();
    }
  });
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  async function open(replicas: number, price: string | null = "0.12") {
    const options = await databases.create(kind);
    const spent: number[] = [];
    const meters: StorageMeterOptions[] = [];
    for (let replica = 0; replica < replicas; replica += 1) {
      const database = openDatabase(options);
      closing.defer(() => database.close());
      if (replica === 0) await fill(database);
      meters.push({
        ...{
          database,
          logger: options.logger,
          pricePerGigabyteDay: () => price ?? undefined,
          callerOf: async () => CALLER,
        },
        factorsOf: (projectId) => (projectId === "two" ? ["0.5"] : []),
        inference: { beginSpending: async () => async (nanoDollars) => void spent.push(nanoDollars) },
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
    expect(spent.toSorted()).toEqual([12_500_000, 15_000_000]);
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
    expect(spent).toEqual([]);
  });
});

test("rounds the cost of an hour once", () => {
  expect(storageCost("0.1", [], 1)).toBe(0);
  expect(storageCost("0.1", [], 1_000_000_000)).toBe(4_166_667);
  expect(storageCost("0.1", ["0.9", "1.1"], 123_456_789_012)).toBe(Math.round((123.456789012 * 0.1 * 0.99 * 1e9) / 24));
});
