/** Batches as jobs: each runs in one process at a time, and projects take turns. */

import { randomInt } from "node:crypto";
import { sql } from "kysely";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { fairLeases } from "../../storage/fair-leases.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import type { ClaimedBatch } from "./batch-queries.ts";

export interface BatchJobsOptions {
  database: Database;
  logger: Logger;
  /** Batches that this process runs at the same time. */
  concurrency: number;
  run: (batch: ClaimedBatch, signal: AbortSignal) => Promise<JobEnd>;
}

/** Batches of a process that died run elsewhere after this time. */
const LEASE_MS = 15_000;
/** Looks for batches of other replicas. A process that has the database to itself knows of each batch. */
const POLL_MS = { postgresql: 1_000, sqlite: MINUTE_MS };
/** Random, so that another replica, which may have the input, gets the batch too. */
const RETRY_MS = { min: 500, max: 2_000 };

/** Starts to run batches, including unfinished ones of earlier processes. */
export function startBatchJobs({ database, logger, concurrency, run }: BatchJobsOptions): JobRunner<ClaimedBatch> {
  const rows = leasedBatches(database);
  // Leaves a place for other projects.
  const maxPerProject = Math.max(1, concurrency - 1);
  return new JobRunner<ClaimedBatch>({
    subject: "batches",
    logger,
    concurrency,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS[database.kind],
    run,
    retryDelayMs: () => randomInt(RETRY_MS.min, RETRY_MS.max),
    store: fairLeases(database, { table: "batches", rows, maxPerProject }),
  });
}

export function leasedBatches(database: Database): LeasedRows<"batches", ClaimedBatch> {
  return new LeasedRows(database, {
    table: "batches",
    key: "id",
    owner: { id: "runId" },
    open: sql`ended_at is null`,
    orderBy: ["createdAt"],
    endsEarlierLeases: true,
  });
}
