/** Fills a migrated database in bulk, SQLite or PostgreSQL. */

import { join } from "node:path";
import SQLite from "better-sqlite3";
import pg from "pg";

const HOUR_MS = 3_600_000;
const HOURS_PER_YEAR = 8760;
const SECONDS = { hour: 3600, day: 86_400 } as const;

export interface Filling {
  run(statement: string): Promise<void>;
  one(query: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export function openSqlite(directory: string): Filling {
  const sqlite = new SQLite(join(directory, "parlance.sqlite"));
  return {
    run: async (statement) => void sqlite.exec(statement),
    one: async (query) => sqlite.prepare(query).get() as Record<string, string>,
    close: async () => void sqlite.close(),
  };
}

export async function openPostgres(url: string): Promise<Filling> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    run: async (statement) => void (await client.query(statement)),
    one: async (query) => (await client.query(query)).rows[0],
    close: () => client.end(),
  };
}

const numbers = (count: number) =>
  `with recursive r(i) as (select 0 union all select i + 1 from r where i < ${count - 1})`;

const DIMENSIONS = 100;
/** Rows of one statement. Hashes come from here, since SQLite has no function for them. */
const ROWS_AT_ONCE = 1000;

/** Adds keys to the default project. */
export async function addKeys(filling: Filling, count: number, hashOf: (index: number) => string): Promise<void> {
  const { id, organization } = await filling.one(
    "select id, organization_id as organization from projects where is_default = 1",
  );
  for (let start = 0; start < count; start += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - start) }, (_none, offset) => {
      const index = start + offset;
      return `('key_bench${index}', '${organization}', '${id}', 'project', 'Key ${index}', '${hashOf(index)}', 'sk-...${index}', 0, ${index})`;
    });
    await filling.run(
      `insert into api_keys (id, organization_id, project_id, kind, name, key_hash, redacted_value, is_fixed, created_at) values ${rows}`,
    );
  }
}

export async function addProjects(filling: Filling, count: number): Promise<void> {
  const { id } = await filling.one("select id from organizations where is_default = 1");
  await filling.run(`${numbers(count)} insert into projects (id, organization_id, name, is_default, created_at)
    select 'proj_bench' || i, '${id}', 'Project ' || i, 0, i from r`);
}

export interface UsageYear {
  hourlyRows: number;
  dailyRows: number;
  rawRows: number;
}

/**
 * Adds what a year at 100 requests per second leaves: rollups of every hour and day for each of `dimensions`
 * combinations of key and model, and one hour of raw records.
 */
export async function addUsage(filling: Filling, dimensions: number, hours: number): Promise<UsageYear> {
  const { id: organization } = await filling.one("select id from organizations where is_default = 1");
  const { id: project } = await filling.one("select id from projects where is_default = 1");
  await filling.run(`${numbers(dimensions)} insert into usage_dimensions (id, organization_id, project_id, key_id,
    model, deployment, operation) select 9000000000000 + i, '${organization}', '${project}', 'key_bench' || (i / 5),
    'model' || (i % 5), 'd', 'chat' from r`);
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  for (const seconds of [SECONDS.hour, SECONDS.day]) {
    const width = seconds * 1000;
    const buckets = Math.ceil((hours * SECONDS.hour) / seconds);
    const last = Math.floor(now / width) * width;
    const requests = Math.round((100 * seconds) / dimensions);
    await filling.run(`${numbers(dimensions)}, b(j) as (select 1 union all select j + 1 from b where j < ${buckets})
      insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, prompt_tokens, cached_tokens,
      completion_tokens, reasoning_tokens, characters, audio_milliseconds, cost_nano_dollars)
      select ${seconds}, ${last} - cast(j as bigint) * ${width}, 9000000000000 + i, ${requests}, ${requests * 1200}, 0,
      ${requests * 300}, 0, 0, 0, cast(${requests} as bigint) * 700000 from r cross join b`);
  }
  const rawRows = 360_000;
  await filling.run(`${numbers(rawRows)} insert into usage_records (at, dimension_id, prompt_tokens, cached_tokens,
    completion_tokens, reasoning_tokens, characters, audio_milliseconds, duration_milliseconds, cost_nano_dollars, outcome)
    select ${now} - cast(i as bigint) * 10, 9000000000000 + i % ${dimensions}, 1200, 0, 300, 0, 0, 0, 2500, 700000,
    'finished' from r`);
  return { hourlyRows: dimensions * hours, dailyRows: dimensions * Math.ceil(hours / 24), rawRows };
}

/** Adds requests of the last days to the history, evenly, with `DIMENSIONS` combinations of key, model and status. */
export async function addRequests(filling: Filling, count: number, days: number): Promise<void> {
  const { id: organization } = await filling.one("select id from organizations where is_default = 1");
  const { id: project } = await filling.one("select id from projects where is_default = 1");
  const now = Date.now();
  await filling.run(`${numbers(DIMENSIONS)} insert into request_dimensions (id, organization_id, project_id, key_id,
    operation, model, answered_by, deployment, status, outcome, error, last_day) select 9000000000000 + i,
    '${organization}', '${project}', 'key_bench' || (i / 5), 'chat/completions', 'model' || (i % 5), 'model' || (i % 5),
    'd', case when i % 10 = 0 then 503 else 200 end, 'finished', case when i % 10 = 0 then 'overloaded' end, ${now} from r`);
  // IDs are random, which scatters them over an index.
  await filling.run(`${numbers(count)} insert into request_history (id, at, dimension_id, attempts, queued_milliseconds,
    first_token_milliseconds, duration_milliseconds, prompt_tokens, cached_tokens, completion_tokens, cost_nano_dollars,
    details) select 'req_' || ((cast(i as bigint) * 2654435761) % 4294967296) || '_' || i,
    ${now} - cast(i as bigint) * ${Math.floor((days * 24 * HOUR_MS) / count)}, 9000000000000 + (cast(i as bigint) * 48271) % ${DIMENSIONS},
    1, 2, 80, 200 + i % 3000, 1200, 0, 300, 700000 + i % 1000, '{"endUser":"user' || (i % 1000) || '"}' from r`);
}

export const YEAR_HOURS = HOURS_PER_YEAR;
