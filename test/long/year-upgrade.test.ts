/**
 * A database of an earlier commit with a year of data is upgraded under load: on PostgreSQL while both versions run side
 * by side, on SQLite by `parlance migrate` beside the running service, which the new version then replaces.
 * UPGRADE_RECORDS sets the number of usage records.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS } from "../../src/kernel/durations.ts";
import { MIGRATIONS } from "../../src/storage/migrations/migrations.ts";
import { type PostgresServer, startPostgres } from "../support/databases/postgres.ts";
import { chatLine, createBatch, readLines, untilEnded } from "../support/service/batches.ts";
import { spawnParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";
import { checkOut, hasCommit, type PreviousVersion } from "../support/upgrade/previous-version.ts";
import { type RawDatabase, rawPostgres, rawSqlite } from "../support/upgrade/raw-database.ts";
import { type LoadKey, SteadyLoad } from "../support/upgrade/steady-load.ts";
import { fillYear, type Year } from "../support/upgrade/year-of-data.ts";

const COMMIT = "fb150db475735065e88a227a9ea24fe8d63eb193";
const RECORDS = Number(process.env.UPGRADE_RECORDS ?? 1_000_000);
const CLIENTS = 8;
const PHASE_MS = 5_000;
const BATCH_LINES = 200;

const CONFIG = `
builtin_models: false
server: { console: false, drain_seconds: 20 }
usage: { record_days: 400, request_days: 40 }
models:
  - id: parrot
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments: [{ engine: scripted, slots: 64, replies: [{ text: "Some words to say.", delay_ms_before_first: 50 }] }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 4, replies: [{ text: "Slow.", delay_ms_before_first: 400 }] }]
`;

const isThere = await hasCommit(COMMIT);
if (!isThere)
  console.warn(`SKIPPED: the history lacks the commit ${COMMIT.slice(0, 7)}, from which the upgrade starts.`);

const cleanup = new AsyncDisposableStack();
let previous: PreviousVersion;
let postgres: PostgresServer;
beforeAll(async () => {
  if (!isThere) return;
  previous = cleanup.use(await checkOut(COMMIT));
  postgres = cleanup.use(await startPostgres());
});
afterAll(() => cleanup.disposeAsync());

interface Installation {
  database: RawDatabase;
  environment: Record<string, string>;
  start(version: "previous" | "present"): Promise<ServiceProcess>;
}

async function install(kind: RawDatabase["kind"]): Promise<Installation> {
  const directory = cleanup.use(await temporaryDirectory()).path;
  const url = kind === "postgresql" ? (await postgres.createEmptyDatabase()).reveal() : undefined;
  const PARLANCE_ENCRYPTION_KEY = randomBytes(32).toString("base64");
  const shared = url === undefined ? undefined : { DATABASE_URL: url, PARLANCE_ENCRYPTION_KEY };
  const environment = { PARLANCE_DATA_DIR: directory, ...shared };
  return {
    database: url === undefined ? rawSqlite(join(directory, "parlance.sqlite")) : rawPostgres(url),
    environment,
    start: async (version) => {
      const executable = version === "previous" ? { executable: previous.executable } : {};
      const service = await startServiceProcess({ config: CONFIG, environment, ...executable });
      cleanup.defer(async () => void (await service.stop()));
      return service;
    },
  };
}

const administrator = ({ baseUrl, adminKey }: ServiceProcess) =>
  new OpenAI({ baseURL: baseUrl, apiKey: null, adminAPIKey: adminKey, maxRetries: 0 }).admin.organization;

interface Project {
  id: string;
  keyIds: string[];
  key: LoadKey;
}

async function createProjects(service: ServiceProcess): Promise<Project[]> {
  const { projects } = administrator(service);
  const created: Project[] = [];
  for (let number = 0; number < 8; number += 1) {
    const { id } = await projects.create({ name: `Team ${number}` });
    const account = await projects.serviceAccounts.create(id, { name: "App" });
    const further = await projects.serviceAccounts.apiKeys.create(account.id, { project_id: id, name: "Second" });
    const { id: keyId = "", value = "" } = account.api_key ?? {};
    created.push({ id, keyIds: [keyId, further.id], key: { projectId: id, value } });
  }
  await projects.rateLimits.updateRateLimit((await limitOf(service, created)) ?? "", {
    project_id: created[0]?.id ?? "",
    max_requests_per_1_minute: 1_000_000,
  });
  return created;
}

async function limitOf(service: ServiceProcess, [first]: readonly Project[]): Promise<string | undefined> {
  const { data } = await administrator(service).projects.rateLimits.listRateLimits(first?.id ?? "");
  return data.find(({ model }) => model === "parrot")?.id;
}

/** What the service says about the past, in the fields that both versions have. */
async function reports(service: ServiceProcess, { from, until }: Year) {
  const read = async (path: string, start: number, end: number, query: string) => {
    const rows: unknown[] = [];
    for (let page: string | undefined = ""; page !== undefined; ) {
      const range = `start_time=${start / 1000}&end_time=${end / 1000}`;
      const address = `${service.origin}/v1/organization/${path}?${range}&${query}${page && `&page=${page}`}`;
      const answer = await fetch(address, { headers: { authorization: `Bearer ${service.adminKey}` } });
      // biome-ignore lint/suspicious/noExplicitAny: reports of several kinds
      const body = (await answer.json()) as any;
      expect(answer.status, JSON.stringify(body).slice(0, 500)).toBe(200);
      for (const { start_time, results } of body.data) {
        for (const { project_id, model, line_item, num_model_requests, input_tokens, output_tokens, amount } of results)
          rows.push([
            start_time,
            project_id,
            model ?? line_item,
            num_model_requests,
            input_tokens,
            output_tokens,
            amount?.value,
          ]);
      }
      page = body.next_page ?? undefined;
    }
    return rows;
  };
  const groups = "group_by=project_id&group_by=model";
  const middle = from + 180 * DAY_MS;
  return {
    chatByDay: await read("usage/completions", from, until, `bucket_width=1d&limit=31&${groups}`),
    embeddingsByDay: await read("usage/embeddings", from, until, `bucket_width=1d&limit=31&${groups}`),
    costsByDay: await read("costs", from, until, "limit=180&group_by=project_id&group_by=line_item"),
    chatByHour: await read("usage/completions", middle, middle + 7 * DAY_MS, `bucket_width=1h&limit=168&${groups}`),
    chatByMinute: await read("usage/completions", middle, middle + DAY_MS, `bucket_width=1m&limit=1440&${groups}`),
    lastByMinute: await read("usage/completions", until - DAY_MS, until, `bucket_width=1m&limit=1440&${groups}`),
  };
}

/** Counts and sums of the rows of the past, which an upgrade must not change. */
async function pastRows({ query }: RawDatabase, { until }: Year) {
  const [records] = await query(
    `select count(*) as n, sum(prompt_tokens) as t, sum(cost_nano_dollars) as c, sum(at % 1000003) as a from usage_records where at < ${until}`,
  );
  const rollups = await query(
    `select bucket_seconds as s, count(*) as n, sum(requests) as r, sum(completion_tokens) as t from usage_rollups where begins_at < ${until} and bucket_seconds >= 3600 group by bucket_seconds order by bucket_seconds`,
  );
  const [history] = await query(
    `select count(*) as n, sum(duration_milliseconds) as d from request_history where at < ${until}`,
  );
  const counts: Record<string, unknown> = {};
  for (const table of [
    "projects",
    "service_accounts",
    "api_keys",
    "stored_responses",
    "rate_limits",
    "usage_dimensions",
  ])
    counts[table] = Number((await query(`select count(*) as n from ${table}`))[0]?.n);
  return JSON.parse(JSON.stringify({ records, rollups, history, counts }));
}

/** Usage of today by project, at each width of the buckets. */
async function today(service: ServiceProcess, year: Year, width: "1m" | "1h" | "1d") {
  const limit = { "1m": 1440, "1h": 168, "1d": 31 }[width];
  const page = await administrator(service).usage.completions({
    start_time: year.until / 1000,
    bucket_width: width,
    limit,
    group_by: ["project_id"],
    models: ["parrot"],
  });
  const sums = new Map<string, { requests: number; tokens: number }>();
  for (const { results } of page.data as unknown as { results: Record<string, string | number>[] }[]) {
    for (const { project_id, num_model_requests, output_tokens } of results) {
      const sum = sums.get(String(project_id)) ?? { requests: 0, tokens: 0 };
      sums.set(String(project_id), {
        requests: sum.requests + Number(num_model_requests),
        tokens: sum.tokens + Number(output_tokens),
      });
    }
  }
  return sums;
}

interface Upgrade {
  load: SteadyLoad;
  old: ServiceProcess;
  installation: Installation;
  /** Called while the load goes to both versions, or to the old one on the new schema. */
  onBoth(service: ServiceProcess): Promise<void>;
}

const CONNECTIONS = `select pid, pg_blocking_pids(pid) as blocked_by, state, wait_event_type, now() - xact_start as age,
  left(query, 200) as query from pg_stat_activity where datname = current_database()`;

async function untilMigrated({ query }: RawDatabase): Promise<void> {
  for (;;) {
    const names = (await query("select name from kysely_migration")).map(({ name }) => name);
    if (names.includes(Object.keys(MIGRATIONS).at(-1))) return;
    await pause(50);
  }
}

/** Resolves with the new service, and with the times that the upgrade took. */
async function roll({ load, old, installation, onBoth }: Upgrade): Promise<[ServiceProcess, Record<string, number>]> {
  const beganAt = performance.now();
  const migrated = untilMigrated(installation.database).then(() => performance.now() - beganAt);
  const next = await installation.start("present").catch(async (failure: unknown) => {
    console.error("connections of the database:", await installation.database.query(CONNECTIONS));
    throw failure;
  });
  const startMs = performance.now() - beganAt;
  const migratedMs = await migrated;
  await load.use(old, next);
  await pause(PHASE_MS);
  await onBoth(next);
  await load.use(next);
  expect(await old.stop()).toBe(0);
  await pause(PHASE_MS);
  return [next, { migratedMs: Math.round(migratedMs), readyMs: Math.round(startMs) }];
}

async function replace({
  load,
  old,
  installation,
  onBoth,
}: Upgrade): Promise<[ServiceProcess, Record<string, number>]> {
  const { environment, database } = installation;
  const beganAt = performance.now();
  const migrated = await spawnParlance(["migrate"], { cwd: environment.PARLANCE_DATA_DIR ?? "", environment });
  const migrateMs = performance.now() - beganAt;
  expect(migrated.stderr).toBe("");
  expect(migrated.stdout).toMatch(/^Migrated the database: 0019-request-details/);
  await pause(PHASE_MS);
  await onBoth(old);
  await load.use();
  const stoppedAt = performance.now();
  // What the old version has not written to the database yet is in its journal.
  await old.stop("SIGKILL");
  const next = await installation.start("present");
  const restartMs = performance.now() - stoppedAt;
  await load.use(next);
  await pause(PHASE_MS);
  expect(database.kind).toBe("sqlite");
  return [next, { migrateMs: Math.round(migrateMs), restartMs: Math.round(restartMs) }];
}

describe.skipIf(!isThere).each([
  ["sqlite", replace],
  ["postgresql", roll],
] as const)("on %s", (kind, upgrade) => {
  test("loses no record and fails no request", async () => {
    const installation = await install(kind);
    const { database } = installation;
    const old = await installation.start("previous");
    const projects = await createProjects(old);
    const [batchProject, ...loaded] = projects as [Project, ...Project[]];
    const storing = old.client({ apiKey: batchProject.key.value, maxRetries: 0 });
    const stored = await storing.responses.create({ model: "parrot", input: "Keep this.", store: true });
    const file = await storing.files.create({ file: new File(["kept"], "kept.txt"), purpose: "user_data" });

    const filledAt = performance.now();
    const [organization] = await database.query("select id from organizations where is_default = 1");
    const year = await fillYear(database, { organizationId: String(organization?.id), projects, records: RECORDS });
    if (kind === "postgresql") await database.query("analyze");
    const fillMs = performance.now() - filledAt;
    const before = await pastRows(database, year);
    const reportsBefore = await reports(old, year);
    expect(before.records.n).toEqual(kind === "sqlite" ? RECORDS : String(RECORDS));
    expect(reportsBefore.chatByDay.length).toBeGreaterThan(365);
    expect(reportsBefore.chatByMinute.length).toBeGreaterThan(50);

    const load = new SteadyLoad(
      loaded.map(({ key }) => key),
      CLIENTS,
    );
    await load.use(old);
    await pause(PHASE_MS);
    const slowestBeforeMs = load.outcome.slowestMs;
    const lines = Array.from({ length: BATCH_LINES }, (_, index) => chatLine(`line-${index}`, "Hm.", "slow"));
    const batch = await createBatch(storing, lines);
    const onBoth = async (service: ServiceProcess) => {
      expect(await reports(service, year)).toEqual(reportsBefore);
    };
    const [next, times] = await upgrade({ load, old, installation, onBoth });
    const outcome = await load.end();
    console.log(`upgraded ${kind} under load`, {
      records: RECORDS,
      fillMs: Math.round(fillMs),
      ...times,
      slowestBeforeMs: Math.round(slowestBeforeMs),
      slowestMs: Math.round(outcome.slowestMs),
      answered: [...outcome.answered.values()].reduce((sum, { requests }) => sum + requests, 0),
    });
    expect(outcome.failures).toEqual([]);
    expect(outcome.answered.size).toBe(loaded.length);

    expect(await reports(next, year)).toEqual(reportsBefore);
    expect(await pastRows(database, year)).toEqual({
      ...before,
      // The load has dimensions of its own.
      counts: { ...before.counts, usage_dimensions: expect.any(Number) },
    });
    for (const width of ["1m", "1h", "1d"] as const) {
      await expect
        .poll(async () => {
          const sums = await today(next, year, width);
          sums.delete(batchProject.id);
          return [...sums].sort();
        })
        .toEqual([...outcome.answered].sort());
    }

    const reading = next.client({ apiKey: batchProject.key.value, maxRetries: 0 });
    expect((await reading.responses.retrieve(stored.id)).output_text).toBe(stored.output_text);
    expect(await (await reading.files.content(file.id)).text()).toBe("kept");
    const ended = await untilEnded(reading, batch, 300);
    expect(ended.request_counts).toEqual({ total: BATCH_LINES, completed: BATCH_LINES, failed: 0 });
    const ids = (await readLines(reading, ended.output_file_id)).map(({ custom_id }) => custom_id);
    expect(ids.sort()).toEqual(lines.map(({ custom_id }) => custom_id).sort());
    const limits = await administrator(next).projects.rateLimits.listRateLimits(batchProject.id);
    expect(limits.data.find(({ model }) => model === "parrot")).toMatchObject({ max_requests_per_1_minute: 1_000_000 });
    expect(await next.stop()).toBe(0);
  });
});
