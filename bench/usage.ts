/**
 * Disk space of sums of usage by the minute, hour and day, and duration of a monthly report over those of ten million
 * requests, on SQLite and PostgreSQL: `node bench/usage.ts [requests]`.
 */

import { rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SQLite from "better-sqlite3";
import pg from "pg";
import { UsageReports } from "../src/features/usage/usage-report.ts";
import { createLogger } from "../src/kernel/logger.ts";
import { type DatabaseOptions, openDatabase } from "../src/storage/database.ts";
import { startPostgres } from "../test/support/databases/postgres.ts";
import { median, millisecondsOf } from "./timing.ts";

const records = Number(process.argv[2] ?? 10_000_000);
const MONTH_BEGINS = Date.UTC(2026, 9, 1);
const DAY_MS = 86_400_000;
const FIRST_DIMENSION = 9_000_000_000_000;
const DIMENSIONS = 200;
const logger = createLogger("silent");

interface FilledDatabase {
  run(statement: string): Promise<void>;
  /** Size of all tables and indexes in bytes. */
  size(): Promise<number>;
}

async function measure(name: string, options: DatabaseOptions, filling: FilledDatabase): Promise<void> {
  const database = openDatabase(options);
  await database.check();
  const spacing = Math.floor((30 * DAY_MS) / records);
  const numbers = (end: number) =>
    `with recursive r(i) as (select 0 union all select i + 1 from r where i < ${end - 1})`;
  const sizes = [];
  await filling.run(`${numbers(DIMENSIONS)} insert into usage_dimensions select ${FIRST_DIMENSION} + i, 'org_a',
    'proj_' || (i % 20), 'key_' || i, 'model' || (i % 10), 'deployment', 'chat' from r`);
  sizes.push(await filling.size());
  // Only the source of the sums; the service writes no single requests.
  await filling.run(`${numbers(records)} insert into usage_records (at, dimension_id, prompt_tokens, cached_tokens,
    completion_tokens, reasoning_tokens, characters, audio_milliseconds, duration_milliseconds, cost_nano_dollars, outcome)
    select ${MONTH_BEGINS} + cast(i as bigint) * ${spacing}, ${FIRST_DIMENSION} + (cast(i as bigint) * 7) % ${DIMENSIONS},
    1200 + i % 100, 100, 300, 0, 0, 0, 2500, 700000, 'finished' from r`);
  sizes.push(await filling.size());
  for (const seconds of [60, 3600, 86_400]) {
    await filling.run(`insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, prompt_tokens,
      cached_tokens, completion_tokens, reasoning_tokens, characters, audio_milliseconds, cost_nano_dollars)
      select ${seconds}, (at / ${seconds * 1000}) * ${seconds * 1000}, dimension_id, count(*), sum(prompt_tokens),
      sum(cached_tokens), sum(completion_tokens), sum(reasoning_tokens), sum(characters), sum(audio_milliseconds),
      sum(cost_nano_dollars) from usage_records group by 2, 3`);
  }
  sizes.push(await filling.size());
  const [, withRequests = 0, withSums = 0] = sizes;
  await filling.run("delete from usage_records");
  console.log(`${name}: bytes of sums per request: ${((withSums - withRequests) / records).toFixed(1)}`);
  const reports = new UsageReports(database);
  const until = MONTH_BEGINS + 31 * DAY_MS;
  const order = { organizationId: "org_a", operation: "chat", from: MONTH_BEGINS } as const;
  for (const groupBy of [[], ["model"], ["projectId", "keyId", "model"]] as const) {
    const month = { ...order, until, bucketSeconds: 86_400, groupBy, maxBuckets: 31 } as const;
    const times = [];
    for (let time = 0; time < 7; time += 1) times.push(await millisecondsOf(() => reports.read(month)));
    const slowest = Math.max(...times).toFixed(1);
    console.log(
      `${name}: a month by day, by [${groupBy.join(", ")}]: ${median(times).toFixed(1)} ms (median of 7, slowest ${slowest})`,
    );
  }
  const end = MONTH_BEGINS + DAY_MS;
  const day = { ...order, until: end, bucketSeconds: 60, groupBy: [], maxBuckets: 1440 } as const;
  console.log(`${name}: a day by minute: ${(await millisecondsOf(() => reports.read(day))).toFixed(0)} ms`);
  await database.close();
}

async function onSqlite(): Promise<void> {
  const file = join(tmpdir(), `parlance-bench-${process.pid}.sqlite`);
  const options = { url: undefined, file, logger };
  const database = openDatabase(options);
  await database.check();
  await database.close();
  const sqlite = new SQLite(file);
  try {
    await measure("SQLite", options, {
      run: async (statement) => void sqlite.exec(statement),
      size: async () => {
        sqlite.pragma("wal_checkpoint(truncate)");
        return statSync(file).size;
      },
    });
  } finally {
    sqlite.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  }
}

async function onPostgresql(): Promise<void> {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const client = new pg.Client({ connectionString: url.reveal() });
  await client.connect();
  await measure(
    "PostgreSQL",
    { url, file: "", logger },
    {
      run: async (statement) => {
        await client.query(statement);
        await client.query("vacuum analyze");
      },
      size: async () =>
        Number((await client.query("select pg_database_size(current_database())")).rows[0].pg_database_size),
    },
  );
  await client.end();
}

await onSqlite();
await onPostgresql();
