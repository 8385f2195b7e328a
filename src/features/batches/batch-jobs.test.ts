import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { batchRow, takeOverBatch } from "../../../test/support/service/batch-row.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import { createLogger } from "../../kernel/logger.ts";
import { type Database, type Executor, openDatabase } from "../../storage/database.ts";
import { claimFairly } from "../../storage/fair-leases.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { leasedBatches, startBatchJobs } from "./batch-jobs.ts";
import { type ClaimedBatch, insertBatch, requestCancellation, updateOwnedBatch } from "./batch-queries.ts";
import type { BatchRow } from "./batch-rows.ts";

const databases = useDatabases();
const logger = createLogger("silent");
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

async function open(kind: (typeof DATABASE_KINDS)[number], ...projects: string[]): Promise<Database> {
  const database = openDatabase(await databases.create(kind));
  cleanup.defer(() => database.close());
  const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };
  await database.run(async (executor) => {
    await insertOrganization(executor, { ...named, id: "org_a" });
    for (const id of projects) await insertProject(executor, { ...named, id, organizationId: "org_a" });
  });
  return database;
}

function add(database: Database, id: string, projectId: string, createdAt: number): Promise<void> {
  return database.run((executor) => insertBatch(executor, { ...batchRow("file-a"), id, projectId, createdAt }));
}

function read(database: Database, id: string): Promise<BatchRow> {
  const query = (executor: Executor) => executor.selectFrom("batches").selectAll().where("id", "=", id);
  return database.run((executor) => query(executor).executeTakeFirstOrThrow());
}

/** Runs end when `end` is called. */
function startJobs(database: Database, concurrency: number) {
  const running = new Map<string, (end: JobEnd) => void>();
  const started: string[] = [];
  const run = ({ id }: ClaimedBatch, signal: AbortSignal) => {
    started.push(id);
    return new Promise<JobEnd>((end) => {
      running.set(id, end);
      signal.addEventListener("abort", () => end("interrupted"));
    });
  };
  const jobs = startBatchJobs({ database, logger, concurrency, run });
  cleanup.defer(() => jobs.close());
  const end = async (id: string) => {
    const endedAt = Date.now();
    await database.run(async (executor) => {
      const row = await executor.selectFrom("batches").select("runId").where("id", "=", id).executeTakeFirstOrThrow();
      await updateOwnedBatch(executor, { id, runId: row.runId ?? "" }, { status: "completed", endedAt });
    });
    running.get(id)?.("over");
  };
  const pause = (id: string, retryAfterMs: number) => running.get(id)?.({ retryAfterMs });
  return { jobs, started, end, pause };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("leaves a place for batches of other projects, the oldest first", async () => {
    const database = await open(kind, "proj_a", "proj_b");
    for (const [index, id] of ["a1", "a2", "a3", "a4"].entries()) await add(database, id, "proj_a", index);
    const { jobs, started, end } = startJobs(database, 3);
    await eventually(() => expect(started).toEqual(["a1", "a2"]));
    await add(database, "b1", "proj_b", 10);
    jobs.wake();
    await eventually(() => expect(started).toEqual(["a1", "a2", "b1"]));
    await end("a1");
    await eventually(() => expect(started).toEqual(["a1", "a2", "b1", "a3"]));
  });

  test("gives the place of a batch that waits to another project, and then its turn back", async () => {
    const database = await open(kind, "proj_a", "proj_b");
    for (const [index, id] of ["a1", "a2"].entries()) await add(database, id, "proj_a", index);
    await add(database, "b1", "proj_b", 10);
    const { started, end, pause } = startJobs(database, 1);
    await eventually(() => expect(started).toEqual(["a1"]));
    // Both of the first project are due, and older.
    pause("a1", 0);
    await eventually(() => expect(started).toEqual(["a1", "b1"]));
    await end("b1");
    await eventually(() => expect(started).toEqual(["a1", "b1", "a1"]));
  });

  test("gives the place of a batch that waits to later ones of its project before it runs again", async () => {
    const database = await open(kind, "proj_a");
    for (const [index, id] of ["a1", "a2", "a3"].entries()) await add(database, id, "proj_a", index + 1);
    const { started, end, pause } = startJobs(database, 1);
    for (const [index, id] of ["a1", "a2"].entries()) {
      await eventually(() => expect(started.length).toBe(index + 1));
      pause(id, 1);
    }
    await eventually(() => expect(started).toEqual(["a1", "a2", "a3"]));
    await end("a3");
    await eventually(() => expect(started).toEqual(["a1", "a2", "a3", "a1"]));
  });

  test("ends batches that wait without a place: cancelled ones at once, others with their window", async () => {
    const database = await open(kind, "proj_a", "proj_b");
    await add(database, "a1", "proj_a", 1);
    await add(database, "a2", "proj_a", 2);
    const { jobs, started, end, pause } = startJobs(database, 1);
    await eventually(() => expect(started).toEqual(["a1"]));
    pause("a1", 600_000);
    await eventually(() => expect(started).toEqual(["a1", "a2"]));
    await add(database, "b1", "proj_b", 3);
    await eventually(async () => expect((await read(database, "a1")).runId).toBeNull());
    await database.run((executor) => requestCancellation(executor, { id: "a1", projectId: "proj_a" }, Date.now()));
    jobs.wake();
    await eventually(() => expect(started).toEqual(["a1", "a2", "a1"]));
    await end("a1");
    await database.run((executor) =>
      executor.updateTable("batches").set({ expiresAt: 1 }).where("id", "=", "b1").execute(),
    );
    await eventually(() => expect(started).toEqual(["a1", "a2", "a1", "b1"]));
  });

  test("is due soon when it is cancelled while it leaves its place", async () => {
    const database = await open(kind, "proj_a");
    await add(database, "a1", "proj_a", 1);
    const { started, pause } = startJobs(database, 1);
    await eventually(() => expect(started).toEqual(["a1"]));
    await database.run((executor) => requestCancellation(executor, { id: "a1", projectId: "proj_a" }, Date.now()));
    pause("a1", 600_000);
    await eventually(() => expect(started).toEqual(["a1", "a1"]));
  });

  test("leaves a running batch to its run when it is cancelled", async () => {
    const database = await open(kind, "proj_a");
    await add(database, "a1", "proj_a", 1);
    const { started } = startJobs(database, 1);
    await eventually(() => expect(started).toEqual(["a1"]));
    const before = await read(database, "a1");
    await database.run((executor) => requestCancellation(executor, { id: "a1", projectId: "proj_a" }, Date.now()));
    const { status, runId, dueAt } = await read(database, "a1");
    expect({ status, runId }).toEqual({ status: "cancelling", runId: before.runId });
    expect(dueAt).toBeGreaterThanOrEqual(before.dueAt);
  });

  test("gives an interrupted batch back, without the right to write for its earlier run", async () => {
    const database = await open(kind, "proj_a");
    await add(database, "a1", "proj_a", 1);
    const first = startJobs(database, 2);
    await eventually(() => expect(first.started).toEqual(["a1"]));
    const before = await database.run((executor) => takeOverBatch(executor, "a1", "run_before"));
    await database.run((executor) => executor.updateTable("batches").set({ dueAt: 0 }).execute());
    // The first claim of a process that has the database to itself ends all leases.
    const leases = { table: "batches", rows: leasedBatches(database), maxPerProject: 1 } as const;
    const claim = () => claimFairly(database, leases, { leaseMs: 10_000, running: [], turns: new Map() });
    expect(await claim()).toMatchObject({ id: "a1" });
    expect(await claim()).toBeUndefined();
    const owned = { id: "a1", runId: before?.runId ?? "" };
    expect(await database.run((executor) => updateOwnedBatch(executor, owned, { total: 1 }))).toBe(false);
    await first.jobs.close();
    // The interrupted run has no right to end the lease of the other one either.
    expect(await claim()).toBeUndefined();
  });

  test("hands a batch to another runner when the first one closes", async () => {
    const database = await open(kind, "proj_a");
    await add(database, "a1", "proj_a", 1);
    const first = startJobs(database, 1);
    await eventually(() => expect(first.started).toEqual(["a1"]));
    await first.jobs.close();
    const second = startJobs(database, 1);
    await eventually(() => expect(second.started).toEqual(["a1"]));
  });
});

test("runs the batches of a process that was killed at once, where the database has one process", async () => {
  const database = await open("sqlite", "proj_a");
  await add(database, "a1", "proj_a", 1);
  await leasedBatches(database).claim({ limit: 1, leaseMs: 600_000 });
  const { started } = startJobs(database, 1);
  await eventually(() => expect(started).toEqual(["a1"]));
});
