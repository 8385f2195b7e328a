import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { type UsageRecord, UsageRows } from "./usage-batch.ts";
import { writeUsage } from "./usage-queries.ts";
import { UsageReports } from "./usage-report.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const BEGIN = Date.UTC(2026, 10, 21);

let database: Database;
beforeEach(() => {
  database = openDatabase({ url: undefined, file: ":memory:", logger: createLogger("silent") });
});
afterEach(() => database.close());

function requestAt(at: number): UsageRecord {
  return {
    at,
    organizationId: "org_a",
    projectId: "proj_a",
    keyId: "key_a",
    model: "parrot",
    deployment: "one",
    operation: "chat",
    promptTokens: 1,
    cachedTokens: 0,
    completionTokens: 2,
    reasoningTokens: 0,
    characters: 0,
    audioMilliseconds: 0,
    costNanoDollars: 3,
  };
}

/** One request every ten minutes. */
async function writeDay(to = database): Promise<void> {
  const records = Array.from({ length: 144 }, (_each, index) => requestAt(BEGIN + index * 10 * MINUTE_MS));
  const { dimensions, values } = UsageRows.of(records);
  await to.transaction((transaction) =>
    writeUsage(transaction, [{ writer: "one", number: 1, dimensions, values }], BEGIN),
  );
}

test.each([
  [60, 1440],
  [3600, 24],
  [86_400, 7],
] as const)("reports buckets of %i seconds completely", async (bucketSeconds, most) => {
  await writeDay();
  const until = BEGIN + DAY_MS;
  const order = { organizationId: "org_a", operation: "chat", groupBy: [] } as const;
  const from = until - most * bucketSeconds * 1000;
  const { buckets, next } = await new UsageReports(database).read({
    ...order,
    bucketSeconds,
    from,
    until,
    maxBuckets: most,
  });
  expect(next).toBeUndefined();
  expect(buckets.map(({ beginsAt }) => beginsAt)).toEqual(
    Array.from({ length: most }, (_each, index) => from + index * bucketSeconds * 1000),
  );
  const sums = buckets.flatMap((bucket) =>
    bucket.sums.map((sum) => ({ ...sum, isOfBucket: sum.beginsAt === bucket.beginsAt })),
  );
  expect(sums.every(({ isOfBucket }) => isOfBucket)).toBe(true);
  expect(sums.reduce((all, { requests }) => all + requests, 0)).toBe(144);
});

test("gives others a turn after some thousand rows", async () => {
  const days = 60;
  await database.run(async (executor) => {
    await sql`with recursive d(i) as (select 0 union all select i + 1 from d where i < 499)
      insert into usage_dimensions (id, organization_id, project_id, key_id, model, deployment, operation)
      select i, 'org_a', 'proj_a', 'key_' || i, 'parrot', 'one', 'chat' from d`.execute(executor);
    await sql`with recursive b(j) as (select 0 union all select j + 1 from b where j < ${days - 1})
      insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, prompt_tokens, cached_tokens,
        completion_tokens, reasoning_tokens, characters, audio_milliseconds, cost_nano_dollars)
      select 86400, ${BEGIN} + j * ${DAY_MS}, id, 1, 1, 0, 1, 0, 0, 0, 3 from usage_dimensions cross join b`.execute(
      executor,
    );
  });
  const reports = new UsageReports(database);
  const range = { from: BEGIN, until: BEGIN + days * DAY_MS };
  const order = { organizationId: "org_a", operation: undefined, groupBy: [], bucketSeconds: 86_400 } as const;
  const report = await turnsDuring(() => reports.read({ ...order, ...range, maxBuckets: days }));
  expect(report.result.buckets.map(({ sums }) => sums[0]?.requests)).toEqual(new Array(days).fill(500));
  expect(report.turns).toBeGreaterThanOrEqual(6);
  const caller = { organizationId: "org_a", projectId: "proj_a", keyId: "key_a" };
  const spent = await turnsDuring(() => reports.spentBetween(caller, "proj_a", range));
  expect(spent.result).toBe(days * 500 * 3);
  expect(spent.turns).toBeGreaterThanOrEqual(6);
});

async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const result = await work();
  clearImmediate(counting);
  return { result, turns };
}

test("reports come from the read replica, and from the primary while it is unavailable", async () => {
  const replica = openDatabase({ url: undefined, file: ":memory:", logger: createLogger("silent") });
  await writeDay(replica);
  const reports = new UsageReports(database, replica);
  const order = { organizationId: "org_a", operation: "chat", groupBy: [], bucketSeconds: 86_400 } as const;
  const read = async () => {
    const { buckets } = await reports.read({ ...order, from: BEGIN, until: BEGIN + DAY_MS, maxBuckets: 1 });
    return buckets[0]?.sums[0]?.requests;
  };
  expect(await read()).toBe(144);
  const caller = { organizationId: "org_a", projectId: "proj_a", keyId: "key_a" };
  const day = { from: BEGIN, until: BEGIN + DAY_MS };
  expect(await reports.spentBetween(caller, "proj_a", day)).toBe(0);
  await replica.close();
  const url = new Secret("postgresql://parlance@127.0.0.1:1/none");
  const gone = openDatabase({ url, file: "", logger: createLogger("silent"), migrates: false });
  await writeDay();
  const { buckets } = await new UsageReports(database, gone).read({
    ...order,
    from: BEGIN,
    until: BEGIN + DAY_MS,
    maxBuckets: 1,
  });
  expect(buckets[0]?.sums[0]?.requests).toBe(144);
  await gone.close();
});

test("reports minutes of requests that an earlier version recorded together with those recorded since", async () => {
  await writeDay();
  const { dimensions } = UsageRows.of([requestAt(BEGIN)]);
  await database.run((executor) =>
    executor
      .insertInto("usageRecords")
      .values(
        [BEGIN + 1, BEGIN + 59_999, BEGIN + 60_000].map((at) => ({
          ...{ at, dimensionId: dimensions[0]?.id ?? 0, durationMilliseconds: 1, outcome: "finished" as const },
          ...{ promptTokens: 10, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, characters: 0 },
          ...{ audioMilliseconds: 0, costNanoDollars: 100 },
        })),
      )
      .execute(),
  );
  const { buckets } = await new UsageReports(database).read({
    ...{ organizationId: "org_a", operation: "chat", groupBy: ["model"], bucketSeconds: 60, maxBuckets: 2 },
    ...{ from: BEGIN, until: BEGIN + 2 * MINUTE_MS },
  });
  expect(buckets.map(({ sums }) => sums)).toMatchObject([
    [{ model: "parrot", requests: 3, promptTokens: 21, costNanoDollars: 203 }],
    [{ model: "parrot", requests: 1, promptTokens: 10, costNanoDollars: 100 }],
  ]);
});
