/** Batches as jobs: each runs in one process at a time, and projects take turns. */

import { randomInt } from "node:crypto";
import { sql } from "kysely";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import { type ClaimedBatch, projectsWithDueBatches } from "./batch-queries.ts";

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
    store: {
      claim: async ({ limit, leaseMs, running }) => {
        const batches: ClaimedBatch[] = [];
        while (batches.length < limit) {
          const batch = await claimFairly(database, rows, {
            leaseMs,
            maxPerProject,
            running: [...running, ...batches],
          });
          if (batch === undefined) break;
          batches.push(batch);
        }
        return batches;
      },
      renew: (batch, leaseMs) => rows.renew(batch, leaseMs),
      release: (batch, delayMs) => rows.release(batch, delayMs),
    },
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

/**
 * Leases the oldest due batch of the project with the fewest running ones. Undefined when none is due, or another replica
 * was faster.
 */
export async function claimFairly(
  database: Database,
  rows: LeasedRows<"batches", ClaimedBatch>,
  { leaseMs, maxPerProject, running }: { leaseMs: number; maxPerProject: number; running: readonly ClaimedBatch[] },
): Promise<ClaimedBatch | undefined> {
  await rows.endEarlierLeases();
  const counts = new Map<string, number>();
  for (const { projectId } of running) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  const countOf = (projectId: string) => counts.get(projectId) ?? 0;
  const full = [...counts.keys()].filter((projectId) => countOf(projectId) >= maxPerProject);
  const projects = await database.run((executor) => projectsWithDueBatches(executor, database.now, full));
  const [project] = projects.toSorted((a, b) => countOf(a) - countOf(b));
  if (project === undefined) return undefined;
  const [batch] = await rows.claim({ limit: 1, leaseMs, where: sql`project_id = ${project}` });
  return batch;
}
