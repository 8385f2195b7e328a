/**
 * What usage takes on disk, how long a month's report takes with ten million records (SQLite), and what limits add to
 * a request: `node bench/quota.ts [records]`.
 */

import { rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { InMemoryCounters } from "../src/counters/in-memory-counters.ts";
import { UsageReports } from "../src/ledger/usage-report.ts";
import { createLogger } from "../src/observability/logger.ts";
import type { Claim } from "../src/quota/quota.ts";
import { RateLimits } from "../src/quota/rate-limits.ts";
import { openDatabase } from "../src/storage/database.ts";

const records = Number(process.argv[2] ?? 10_000_000);
const MONTH_BEGINS = Date.UTC(2026, 9, 1);
const DAY_MILLISECONDS = 86_400_000;
const FIRST_DIMENSION = 9_000_000_000_000;
const DIMENSIONS = 200;
const logger = createLogger("silent");
const file = join(tmpdir(), `parlance-bench-${process.pid}.sqlite`);

async function measureLedger(): Promise<void> {
  const database = openDatabase({ url: undefined, file, logger });
  const spacing = Math.floor((30 * DAY_MILLISECONDS) / records);
  const lit = (value: number) => sql.lit(value);
  const sizes: number[] = [];
  await database.run(async (executor) => {
    const size = async () => {
      await sql`pragma wal_checkpoint(truncate)`.execute(executor);
      sizes.push(statSync(file).size);
    };
    await sql`with recursive d(i) as (select 0 union all select i + 1 from d where i < ${lit(DIMENSIONS - 1)})
      insert into usage_dimensions select ${lit(FIRST_DIMENSION)} + i, 'org_a', 'proj_' || (i % 20), 'key_' || i,
      'model' || (i % 10), 'deployment', 'chat' from d`.execute(executor);
    await size();
    await sql`with recursive r(i) as (select 0 union all select i + 1 from r where i < ${lit(records - 1)})
      insert into usage_records select ${lit(MONTH_BEGINS)} + i * ${lit(spacing)},
      ${lit(FIRST_DIMENSION)} + (i * 7) % ${lit(DIMENSIONS)}, 1200 + i % 100, 100, 300, 0, 0, 0, 2500, 700000,
      'finished' from r`.execute(executor);
    await size();
    for (const seconds of [3600, 86_400]) {
      const width = lit(seconds * 1000);
      await sql`insert into usage_rollups select ${lit(seconds)}, (at / ${width}) * ${width}, dimension_id, count(*),
        sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(reasoning_tokens), sum(characters),
        sum(audio_milliseconds), sum(cost_nano_dollars) from usage_records group by 2, 3`.execute(executor);
    }
    await size();
  });
  const [before = 0, withRecords = 0, withRollups = 0] = sizes;
  console.log(`bytes a record, its index included: ${((withRecords - before) / records).toFixed(1)}`);
  console.log(`bytes a record, with the sums: ${((withRollups - before) / records).toFixed(1)}`);
  const reports = new UsageReports(database);
  const until = MONTH_BEGINS + 31 * DAY_MILLISECONDS;
  const order = { organizationId: "org_a", operation: "chat", from: MONTH_BEGINS } as const;
  for (const groupBy of [[], ["model"], ["projectId", "keyId", "model"]] as const) {
    const month = { ...order, until, bucketSeconds: 86_400, groupBy, maxBuckets: 31 } as const;
    const times = [];
    for (let time = 0; time < 7; time += 1) times.push(await millisecondsOf(() => reports.read(month)));
    console.log(`a month by day, by [${groupBy.join(", ")}]: ${median(times).toFixed(1)} ms (median of 7)`);
  }
  const day = {
    ...order,
    until: MONTH_BEGINS + DAY_MILLISECONDS,
    bucketSeconds: 60,
    groupBy: [],
    maxBuckets: 1440,
  } as const;
  console.log(`a day by minute: ${(await millisecondsOf(() => reports.read(day))).toFixed(0)} ms`);
  await database.close();
}

async function measureQuota(): Promise<void> {
  const counters = new InMemoryCounters();
  const limits = { requestsPerMinute: 1e8, tokensPerMinute: 1e8 };
  const scopes = ["project", "organization", "key"].map((name) => ({ name, key: name, limits }));
  const quota = new RateLimits({ counters, logger, requestTimeoutSeconds: 600, scopesOf: () => scopes, onRefused: () => {} });
  const claim: Claim = {
    caller: { keyId: "key", organizationId: "organization", projectId: "project", kind: "project" },
    model: "model",
    catalogId: "model",
    operation: "chat",
    prices: [],
    most: { promptTokens: 100, completionTokens: 100, audioBytes: 0, characters: 0 },
  };
  const times = [];
  for (let request = 0; request < 20_000; request += 1) {
    times.push(
      await millisecondsOf(async () => {
        const reservation = await quota.reserve(claim);
        reservation.settle({ promptTokens: 50, completionTokens: 20, costNanoDollars: null });
      }),
    );
  }
  console.log(`reserve and settle, six limits in memory: ${(median(times) * 1000).toFixed(1)} µs (median of 20,000)`);
  await counters.close();
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

try {
  await measureQuota();
  await measureLedger();
} finally {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}
