/**
 * A database of 0.1.0 rolled forward under load, old and new replicas side by side. The old replicas are this version:
 * 0.1.0 itself refuses to start on any newer schema. The new one is this version with a further migration.
 */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../../src/kernel/logger.ts";
import type { Secret } from "../../src/kernel/secret.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { MIGRATIONS } from "../../src/storage/migrations/migrations.ts";
import { type PostgresServer, startPostgres } from "../support/databases/postgres.ts";
import { buildInto } from "../support/service/build-service.ts";
import { ROOT } from "../support/service/executable.ts";
import { LOAD_MODEL, outcomeOf, sendLoad, untilCountersShared } from "../support/service/limit-load.ts";
import { type ProcessOptions, type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

interface RecordedDatabase {
  lastMigration: string;
  /** A key of the recorded service account. */
  apiKey: string;
  /** Requests in the recorded usage. */
  requests: number;
  rows: Record<string, unknown[]>;
}

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let nextExecutable: string;
let recorded: RecordedDatabase;
let postgres: PostgresServer;
let url: Secret;

beforeAll(async () => {
  recorded = JSON.parse(await readFile(join(ROOT, "test/recordings/database-0.1.0.json"), "utf8"));
  nextExecutable = await buildInto("next-version", [
    {
      name: "next-migrations",
      resolveId: (source, importer) =>
        source.endsWith("/migrations.ts") && !importer?.endsWith("/next-migrations.ts")
          ? fileURLToPath(new URL("../support/databases/next-migrations.ts", import.meta.url))
          : undefined,
    },
  ]);
  postgres = cleanup.use(await startPostgres());
  url = await postgres.createEmptyDatabase();
  await fillDatabase();
});

/** The tables of 0.1.0 with the rows that a service of that version wrote. */
async function fillDatabase(): Promise<void> {
  const migrations = Object.entries(MIGRATIONS).filter(([name]) => name <= recorded.lastMigration);
  const logger = createLogger("silent");
  const database = openDatabase({ url, file: "", logger, migrations: Object.fromEntries(migrations) });
  await database.migrate();
  await database.close();
  await query("delete from account_changes");
  for (const [table, rows] of Object.entries(recorded.rows))
    await query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows),
    ]);
}

async function query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url.reveal() });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

type Version = "old" | "expand" | "contract";

async function start(version: Version, until: ProcessOptions["until"] = "ready"): Promise<ServiceProcess> {
  const environment = { DATABASE_URL: url.reveal(), PARLANCE_TEST_VERSION: version };
  const executable = version === "old" ? undefined : nextExecutable;
  const service = await startServiceProcess({ config: LOAD_MODEL, environment, executable, until });
  cleanup.defer(async () => void (await service.stop()));
  return service;
}

const startTogether = (...versions: Version[]) => Promise.all(versions.map((version) => start(version)));

const answers = async (service: ServiceProcess, apiKey: string) => {
  const messages = [{ role: "user" as const, content: "Hm." }];
  const { choices } = await service
    .client({ apiKey, maxRetries: 0 })
    .chat.completions.create({ model: "parrot", messages });
  return choices[0]?.message.content;
};

test("replicas of two versions serve side by side until a migration contracts the schema", async () => {
  const [first, second] = (await startTogether("old", "old")) as [ServiceProcess, ServiceProcess];
  const names = (await query("select name from kysely_migration order by name")).map(({ name }) => name);
  expect(names).toEqual(Object.keys(MIGRATIONS));
  expect(await answers(first, recorded.apiKey)).toBeTruthy();

  const services = [first, second];
  await untilCountersShared(services, 2);
  const remove = async (service: ServiceProcess) => {
    services.splice(services.indexOf(service), 1);
    expect(await service.stop()).toBe(0);
  };
  const rollOut = async () => {
    await pause(3_000);
    const updated = await startTogether("expand", "expand");
    services.push(...updated);
    await pause(3_000);
    await remove(first);
    // As when Kubernetes moves an old pod in the middle of a rollout.
    const restarted = await start("old");
    services.push(restarted);
    await pause(3_000);
    await remove(second);
    await remove(restarted);
    await pause(2_000);
    return updated;
  };
  const bodyOf = () => ({ model: "parrot", messages: [{ role: "user", content: "Hm." }], max_completion_tokens: 5 });
  let isOver = false;
  const sending = sendLoad({ services, clients: 20, seconds: 120, bodyOf, isReached: () => isOver });
  const updated = await rollOut().finally(() => {
    isOver = true;
  });
  const outcome = outcomeOf(await sending);
  expect(outcome).toMatchObject({ broken: 0, refused: 0, other: 0 });
  expect(outcome.admitted).toBeGreaterThan(300);

  const outdated = await start("old");
  const [contracted] = (await startTogether("contract")) as [ServiceProcess];
  const headers = { authorization: `Bearer ${outdated.adminKey}` };
  const readiness = await fetch(`${outdated.origin}/health/ready`, { headers });
  expect(readiness.status).toBe(503);
  expect(await readiness.text()).toContain("migration `9001-contract`");
  for (const service of [contracted, ...updated]) {
    expect((await service.fetch("/health/ready")).status).toBe(200);
    expect(await answers(service, recorded.apiKey)).toBeTruthy();
  }
  const refused = await start("old", "listening");
  if (refused.process.exitCode === null) await once(refused.process, "exit");
  expect(refused.process.exitCode).not.toBe(0);
  expect(refused.output()).toMatch(/newer Parlance has migrated this database.*`9001-contract`/);

  for (const service of [contracted, ...updated]) await service.stop();
  const [usage] = await query("select sum(requests)::int as requests from usage_rollups where bucket_seconds = 86400");
  console.log("rolled forward under load", outcome, usage);
  expect(usage).toEqual({ requests: recorded.requests + 1 + outcome.admitted + 3 });
});
