/** A year of usage, requests, audit entries, keys and stored responses, as the tables of a running service have them. */

import { DAY_MS, DAY_SECONDS, HOUR_SECONDS } from "../../../src/kernel/durations.ts";
import type { RawDatabase } from "./raw-database.ts";

export interface YearOptions {
  organizationId: string;
  /** Projects with their keys, to which the usage belongs. */
  projects: readonly { id: string; keyIds: readonly string[] }[];
  /** Number of usage records; the history has a tenth of them. */
  records: number;
}

export interface Year {
  /** Epoch milliseconds: from the start of a UTC day until the start of today. */
  from: number;
  until: number;
}

const MODELS = [
  { model: "parrot", operation: "chat" },
  { model: "owl", operation: "chat" },
  { model: "minilm", operation: "embedding" },
];
const HISTORY_DAYS = 30;
const COPIES = 20_000;

export async function fillYear(database: RawDatabase, options: YearOptions): Promise<Year> {
  const until = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const from = until - 365 * DAY_MS;
  const dimensions = await fillUsage(database, { ...options, from, until });
  await fillRollups(database, until);
  await fillHistory(database, { ...options, dimensions, until });
  await copyRow(database, "stored_responses", COPIES, { id: "id" });
  await copyRow(database, "audit_logs", COPIES, { id: "id" });
  await copyRow(database, "api_keys", COPIES, { id: "id", unique: "key_hash" });
  return { from, until };
}

async function fillUsage(
  { query, series }: RawDatabase,
  { organizationId, projects, records, from, until }: YearOptions & Year,
): Promise<number> {
  const dimensions = projects.flatMap(({ id, keyIds }) =>
    keyIds.flatMap((keyId) => MODELS.map(({ model, operation }) => ({ id, keyId, model, operation }))),
  );
  const rows = dimensions.map(
    ({ id, keyId, model, operation }, index) =>
      `(${index + 1}, '${organizationId}', '${id}', '${keyId}', '${model}', '${model}', '${operation}')`,
  );
  await query(
    `insert into usage_dimensions (id, organization_id, project_id, key_id, model, deployment, operation) values ${rows.join(", ")}`,
  );
  const stepMs = Math.floor((until - from) / records);
  await query(`insert into usage_records (at, dimension_id, prompt_tokens, cached_tokens, completion_tokens,
      reasoning_tokens, characters, audio_milliseconds, duration_milliseconds, cost_nano_dollars, outcome)
    select ${from} + cast(i as bigint) * ${stepMs} + (i * 37) % ${stepMs}, 1 + (i * 7 + i / 1000) % ${dimensions.length},
      50 + (i * 13) % 1900, (i * 5) % 50, 10 + (i * 11) % 700, i % 3, 0, 0, 200 + (i * 17) % 9000,
      case when i % 11 = 0 then null else cast(1000 as bigint) * (60 + (i * 19) % 5000) end,
      case when i % 97 = 0 then 'client-left' else 'finished' end
    from ${series(records)} as numbers`);
  return dimensions.length;
}

const SUMMED = [
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "characters",
  "audio_milliseconds",
  "cost_nano_dollars",
];

async function fillRollups({ query }: RawDatabase, until: number): Promise<void> {
  const sums = SUMMED.map((name) => `sum(${name})`).join(", ");
  for (const seconds of [HOUR_SECONDS, DAY_SECONDS]) {
    const bucket = `(at / ${seconds * 1000}) * ${seconds * 1000}`;
    await query(`insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, ${SUMMED.join(", ")})
      select ${seconds}, ${bucket}, dimension_id, count(*), ${sums} from usage_records where at < ${until} group by ${bucket}, dimension_id`);
  }
}

async function fillHistory(
  { query, series }: RawDatabase,
  { organizationId, projects, records, dimensions, until }: YearOptions & { dimensions: number; until: number },
): Promise<void> {
  const rows = projects.map(
    ({ id, keyIds }, index) =>
      `(${index + 1}, '${organizationId}', '${id}', '${keyIds[0]}', 'chat', 'parrot', 'parrot', 'parrot', 200, 'finished', null, ${until})`,
  );
  await query(`insert into request_dimensions (id, organization_id, project_id, key_id, operation, model, answered_by,
    deployment, status, outcome, error, last_day) values ${rows.join(", ")}`);
  const count = Math.floor(records / 10);
  const stepMs = Math.floor((HISTORY_DAYS * DAY_MS) / count);
  await query(`insert into request_history (id, at, dimension_id, attempts, queued_milliseconds, first_token_milliseconds,
      duration_milliseconds, prompt_tokens, cached_tokens, completion_tokens, cost_nano_dollars)
    select 'req_year' || i, ${until} - cast(i + 1 as bigint) * ${stepMs}, 1 + i % ${Math.min(dimensions, projects.length)}, 1,
      i % 40, 100 + i % 900, 200 + i % 9000, 50 + i % 1900, 0, 10 + i % 700, 60000
    from ${series(count)} as numbers`);
}

/** Copies the first row of a table, with different values of the columns that must differ. */
async function copyRow(
  { kind, query, series }: RawDatabase,
  table: string,
  count: number,
  { id, unique }: { id: string; unique?: string },
): Promise<void> {
  const columns = await query(
    kind === "sqlite"
      ? `select name from pragma_table_info('${table}')`
      : `select column_name as name from information_schema.columns where table_name = '${table}' order by ordinal_position`,
  );
  const names = columns.map(({ name }) => String(name));
  const [source] = await query(`select ${id} as id from ${table} order by ${id} limit 1`);
  const values = names.map((name) => (name === id || name === unique ? `${name} || '_' || i` : name));
  await query(`insert into ${table} (${names.join(", ")}) select ${values.join(", ")}
    from ${table} cross join ${series(count)} as numbers where ${id} = '${source?.id}'`);
}
