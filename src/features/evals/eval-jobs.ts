/**
 * Runs of evals as jobs: each runs in one process at a time, and goes on elsewhere when that process dies. Projects take
 * turns.
 */

import { sql } from "kysely";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { fairLeases, WAITING_SINCE } from "../../storage/fair-leases.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import type { ClaimedRun } from "./eval-queries.ts";

export interface EvalJobsOptions {
  database: Database;
  logger: Logger;
  run: (run: ClaimedRun, signal: AbortSignal) => Promise<JobEnd>;
}

const LEASE_MS = 15_000;
/** A process that has the database to itself knows of each run. */
const POLL_MS = { postgresql: 1_000, sqlite: MINUTE_MS };
const RETRY_MS = 2_000;
/** Runs of one process at the same time. */
const CONCURRENCY = 3;
/** Leaves a place for other projects. */
const MAX_PER_PROJECT = 2;

export function startEvalJobs({ database, logger, run }: EvalJobsOptions): JobRunner<ClaimedRun> {
  const rows = new LeasedRows<"evalRuns", ClaimedRun>(database, {
    table: "evalRuns",
    key: "id",
    owner: { id: "leaseId" },
    open: sql`ended_at is null`,
    set: sql`status = 'in_progress', starts = starts + 1`,
    unset: sql`starts = starts - 1`,
    orderBy: WAITING_SINCE,
    endsEarlierLeases: true,
  });
  return new JobRunner<ClaimedRun>({
    subject: "evals",
    logger,
    concurrency: CONCURRENCY,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS[database.kind],
    run,
    retryDelayMs: () => RETRY_MS,
    store: fairLeases(database, { table: "evalRuns", rows, maxPerProject: MAX_PER_PROJECT }),
  });
}
