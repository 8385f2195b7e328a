/** Batches as jobs: each runs in one process at a time, and projects take turns. */

import { randomInt } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { fairLeases, WAITING_SINCE } from "../../storage/fair-leases.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import type { ClaimedBatch } from "./batch-queries.ts";

export interface BatchJobsOptions {
  database: Database;
  logger: Logger;
  /** Batches that this process runs at the same time. */
  concurrency: number;
  run: (batch: ClaimedBatch, signal: AbortSignal) => Promise<JobEnd>;
}

export type BatchJobs = Pick<JobRunner<ClaimedBatch>, "drain" | "close"> & { wake: () => void };

const CANCELLING = sql<boolean>`status = 'cancelling'`;
/** Batches of a process that died run elsewhere after this time. */
const LEASE_MS = 15_000;
/** Looks for batches of other replicas. A process that has the database to itself knows of each batch. */
const POLL_MS = { postgresql: 1_000, sqlite: MINUTE_MS };
/** Nothing wakes a process when the window of a batch ends. */
const ENDS_POLL_MS = { postgresql: 1_000, sqlite: 5_000 };
/** Batches that are only to be ended, which need no place of those that run. */
const CONCURRENT_ENDS = 2;
/** Random, so that another replica, which may have the input, gets the batch too. */
const RETRY_MS = { min: 500, max: 2_000 };

/** Starts to run batches, including unfinished ones of earlier processes. Cancelled and expired ones end beside them. */
export function startBatchJobs(options: BatchJobsOptions): BatchJobs {
  const { database, logger, concurrency, run } = options;
  const rows = leasedBatches(database);
  const start = (places: number, pollMs: number, where?: RawBuilder<boolean>) => {
    // Leaves a place for other projects.
    const maxPerProject = Math.max(1, places - 1);
    return new JobRunner<ClaimedBatch>({
      subject: "batches",
      logger,
      concurrency: places,
      leaseMs: LEASE_MS,
      pollMs,
      run,
      retryDelayMs: () => randomInt(RETRY_MS.min, RETRY_MS.max),
      store: fairLeases(database, { table: "batches", rows, maxPerProject, ...(where && { where }) }),
    });
  };
  const isOver = sql<boolean>`(${CANCELLING} or expires_at <= ${database.now})`;
  const runners = [
    start(concurrency, POLL_MS[database.kind]),
    start(CONCURRENT_ENDS, ENDS_POLL_MS[database.kind], isOver),
  ];
  return {
    wake: () => {
      for (const runner of runners) runner.wake();
    },
    drain: () => {
      for (const runner of runners) runner.drain();
    },
    close: async () => {
      await Promise.all(runners.map((runner) => runner.close()));
    },
  };
}

export function leasedBatches(database: Database): LeasedRows<"batches", ClaimedBatch> {
  return new LeasedRows(database, {
    table: "batches",
    key: "id",
    owner: { id: "runId" },
    open: sql`ended_at is null`,
    unset: sql`run_id = null`,
    urgent: CANCELLING,
    orderBy: WAITING_SINCE,
    endsEarlierLeases: true,
  });
}
