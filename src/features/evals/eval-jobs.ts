/** Runs of evals as jobs: each runs in one process at a time, and goes on elsewhere when that process dies. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { type ClaimedRun, claimRun, releaseAllRuns, updateLeasedRun } from "./eval-queries.ts";

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
const CONCURRENCY = 2;

export function startEvalJobs({ database, logger, run }: EvalJobsOptions): JobRunner<ClaimedRun> {
  const { now } = database;
  const dueIn = (delayMs: number) => ({ dueAt: sql<number>`${now} + ${delayMs}` });
  let hasReleased = database.kind !== "sqlite";
  return new JobRunner<ClaimedRun>({
    subject: "evals",
    logger,
    concurrency: CONCURRENCY,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS[database.kind],
    run,
    retryDelayMs: () => RETRY_MS,
    store: {
      claim: async ({ limit, leaseMs }) => {
        if (!hasReleased) await database.run(releaseAllRuns);
        hasReleased = true;
        const runs: ClaimedRun[] = [];
        while (runs.length < limit) {
          const claim = { leaseId: randomUUID(), now, leaseMs };
          const claimed = await database.run((executor) => claimRun(executor, claim));
          if (claimed === undefined) break;
          runs.push(claimed);
        }
        return runs;
      },
      renew: (job, leaseMs) => database.run((executor) => updateLeasedRun(executor, job, dueIn(leaseMs))),
      release: async (job, delayMs) => {
        const change = { ...dueIn(delayMs), starts: sql<number>`starts - 1` };
        await database.run((executor) => updateLeasedRun(executor, job, change));
      },
    },
  });
}
