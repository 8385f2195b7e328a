/** Sums of usage after a million requests of processes that are killed with SIGKILL while they record. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { AMOUNTS, COSTS, RECORD_COLUMNS, type UsageBatch } from "../../src/features/usage/usage-batch.ts";
import { UsageRecorder } from "../../src/features/usage/usage-recorder.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/storage/database.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";

const REQUESTS = 1_000_000;
const CHILD = join(import.meta.dirname, "../support/databases/usage-writer-child.ts");
const SUMMED = [...AMOUNTS, ...COSTS] as const;

type Sums = Record<string, number>;

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

/** Sums of all rollups of one width. */
async function sumsOf(database: Database, table: "usageRollups" | "usageLabelRollups", width: number): Promise<Sums> {
  const columns = [...SUMMED, "requests"].map(
    (name) => sql`coalesce(cast(sum(${sql.ref(name)}) as bigint), 0) as ${sql.ref(name)}`,
  );
  const { rows } = await database.run((executor) =>
    sql<Sums>`select ${sql.join(columns)} from ${sql.table(table)} where ${sql.ref("bucketSeconds")} = ${width}`.execute(
      executor,
    ),
  );
  return { ...rows[0] };
}

/** Batches in the journals that the database does not have: a killed process may have written its last ones. */
async function journaled(database: Database, directory: string): Promise<UsageBatch[]> {
  const writers = await database.run((executor) => executor.selectFrom("usageWriters").selectAll().execute());
  const written = new Map(writers.map(({ id, lastBatch }) => [id, Number(lastBatch)]));
  const lines = readdirSync(directory).flatMap((name) => readFileSync(join(directory, name), "utf8").split("\n"));
  return lines.flatMap((line) => {
    // The last line of a killed process may be cut off.
    if (!line.endsWith("}")) return [];
    const batch = JSON.parse(line) as UsageBatch;
    return batch.number > (written.get(batch.writer) ?? 0) ? [batch] : [];
  });
}

function add(sums: Sums, { values }: UsageBatch, record: number): void {
  for (const name of SUMMED) {
    const place = record * RECORD_COLUMNS.length + (RECORD_COLUMNS as readonly string[]).indexOf(name);
    sums[name] = (sums[name] ?? 0) + Number(values[place] ?? 0);
  }
  sums.requests = (sums.requests ?? 0) + 1;
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("equal the journal's, for every width and label, although processes were killed", {
    timeout: 900_000,
  }, async () => {
    const options = await databases.create(kind);
    const database = openDatabase(options);
    closing.defer(() => database.close());
    await database.check();
    const directory = mkdtempSync(join(tmpdir(), "parlance-sums-"));
    closing.defer(() => rmSync(directory, { recursive: true, force: true }));
    let kills = 0;
    let [expected, expectedLabels]: Sums[] = [{}, {}];
    while ((expected?.requests ?? 0) < REQUESTS) {
      const child = startWriter(options, directory);
      // Another moment of its work each time: while it journals, while it writes, and between.
      await pause(2_000 + ((kills * 397) % 3_000));
      child.kill("SIGKILL");
      await once(child, "exit");
      // A commit that the killed process has sent may still be on its way in PostgreSQL.
      await pause(500);
      kills += 1;
      [expected, expectedLabels] = [
        await sumsOf(database, "usageRollups", 60),
        await sumsOf(database, "usageLabelRollups", 3600),
      ];
      for (const batch of await journaled(database, directory)) {
        for (let record = 0; record < batch.values.length / RECORD_COLUMNS.length; record += 1)
          add(expected, batch, record);
        for (const [place, record] of (batch.labelled ?? []).entries())
          if (place % 2 === 0) add(expectedLabels, batch, record);
      }
    }
    // The next process writes what the last one left.
    const recorder = new UsageRecorder({ database, directory, logger: options.logger });
    closing.defer(() => recorder.close());
    await expect.poll(() => readdirSync(directory), { timeout: 120_000 }).toEqual([]);
    expect(kills).toBeGreaterThan(2);
    for (const width of [60, 3600, 86_400]) expect(await sumsOf(database, "usageRollups", width)).toEqual(expected);
    for (const width of [3600, 86_400])
      expect(await sumsOf(database, "usageLabelRollups", width)).toEqual(expectedLabels);
    expect(expectedLabels?.requests).toBeGreaterThan(REQUESTS / 10);
  });
});

function startWriter({ url, file }: DatabaseOptions, directory: string): ChildProcess {
  const child = spawn(process.execPath, [CHILD, url?.reveal() ?? "", file, directory], { stdio: "inherit" });
  closing.defer(() => void child.kill("SIGKILL"));
  return child;
}
