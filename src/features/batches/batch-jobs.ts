/** Batches as jobs: each runs in one process at a time, and projects take turns. */

import { randomInt, randomUUID } from "node:crypto";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { type ClaimedBatch, claimBatch, postponeBatch, releaseAllBatches } from "./batch-queries.ts";

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
  const { now } = database;
  // Leaves a place for other projects.
  const maxPerProject = Math.max(1, concurrency - 1);
  let hasReleased = database.kind !== "sqlite";
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
        if (!hasReleased) await database.run(releaseAllBatches);
        hasReleased = true;
        const batches: ClaimedBatch[] = [];
        const runningOf = (project: string) =>
          [...running, ...batches].filter(({ projectId }) => projectId === project).length;
        while (batches.length < limit) {
          const projects = new Set([...running, ...batches].map(({ projectId }) => projectId));
          const excludedProjects = [...projects].filter((project) => runningOf(project) >= maxPerProject);
          const claim = { runId: randomUUID(), now, leaseMs, excludedProjects, runningOf };
          const batch = await database.run((executor) => claimBatch(executor, claim));
          if (batch === undefined) break;
          batches.push(batch);
        }
        return batches;
      },
      renew: (batch, leaseMs) => database.run((executor) => postponeBatch(executor, batch, now, leaseMs)),
      release: async (batch, delayMs) => {
        await database.run((executor) => postponeBatch(executor, batch, now, delayMs));
      },
    },
  });
}
