/** Adds files to vector stores: reads their text, embeds the chunks and stores them, in the background. */

import { randomInt } from "node:crypto";
import { sql } from "kysely";
import { DocumentError } from "../../kernel/documents/document-error.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import { type IngestOptions, runIngest } from "./ingest-run.ts";
import { type ClaimedFile, updateOwnedFile } from "./store-file-queries.ts";
import { removeContent } from "./vector-store-queries.ts";

export interface IngestJobsOptions extends IngestOptions {
  database: Database;
  logger: Logger;
  /** Files that this process adds at the same time. */
  concurrency: number;
}

/** Files of a process that died are added elsewhere after this time. */
const LEASE_MS = 15_000;
/** Looks for files of other replicas. */
const POLL_MS = { postgresql: 1_000, sqlite: MINUTE_MS };
const RETRY_MS = { min: 2_000, max: 4_000 };
const MAX_RETRY_MS = 5 * MINUTE_MS;

/** Starts to add files, including unfinished ones of earlier processes. */
export function startIngest(options: IngestJobsOptions): JobRunner<ClaimedFile> {
  const { database, logger, concurrency } = options;
  const rows = new LeasedRows<"vectorStoreFiles", ClaimedFile>(database, {
    table: "vectorStoreFiles",
    key: "additionId",
    owner: { id: "runId" },
    open: sql`status = 'in_progress'`,
    set: sql`attempts = attempts + 1`,
    orderBy: sql`${sql.ref("dueAt")}, ${sql.ref("createdAt")}`,
    endsEarlierLeases: true,
  });
  // Leaves a place for other projects.
  const maxPerProject = Math.max(1, concurrency - 1);
  /** Projects that have had a file in this round: those with many files wait for the others. */
  const served = new Set<string>();
  return new JobRunner<ClaimedFile>({
    subject: "files of vector stores",
    logger,
    concurrency,
    leaseMs: LEASE_MS,
    pollMs: POLL_MS[database.kind],
    run: (file, signal) => run(file, options, signal),
    retryDelayMs: ({ attempts }) => Math.min(MAX_RETRY_MS, randomInt(RETRY_MS.min, RETRY_MS.max) * 2 ** (attempts - 1)),
    store: {
      claim: async ({ limit, leaseMs, running }) => {
        const files: ClaimedFile[] = [];
        const claim = async (excludedProjects: readonly string[]) => {
          const where =
            excludedProjects.length === 0 ? {} : { where: sql`project_id not in (${sql.join(excludedProjects)})` };
          const [file] = await rows.claim({ limit: 1, leaseMs, ...where });
          return file;
        };
        while (files.length < limit) {
          const projects = [...running, ...files].map(({ projectId }) => projectId);
          const full = projects.filter(
            (project) => projects.filter((each) => each === project).length >= maxPerProject,
          );
          let file = await claim([...new Set([...served, ...full])]);
          if (file === undefined && served.size > 0) {
            // Each project has had a turn.
            served.clear();
            file = await claim([...new Set(full)]);
          }
          if (file === undefined) break;
          served.add(file.projectId);
          files.push(file);
        }
        return files;
      },
      renew: (file, leaseMs) => rows.renew(file, leaseMs),
      release: (file, delayMs) => rows.release(file, delayMs),
    },
  });
}

async function run(file: ClaimedFile, options: IngestJobsOptions, signal: AbortSignal): Promise<JobEnd> {
  const { database, logger } = options;
  try {
    return await runIngest(file, options, signal);
  } catch (error) {
    signal.throwIfAborted();
    const failure = failureOf(error, file.attempts);
    if (failure === undefined) {
      logger.warn({ err: error, file: file.id, attempts: file.attempts }, "a file is added to its vector store later");
      return "retry";
    }
    if (failure.errorCode === "server_error") {
      logger.warn({ err: error, file: file.id }, "a file was not added to its vector store");
    }
    const change = { status: "failed", usageBytes: 0, chunks: 0, ...failure } as const;
    if (await database.run((executor) => updateOwnedFile(executor, file, change))) {
      await removeContent(database, file.additionId);
    }
    return "over";
  }
}

const MAX_ATTEMPTS = 8;
/** Failures of a run that a later one may not have. */
const TEMPORARY: ReadonlySet<string> = new Set([
  "unavailable",
  "request-rate-limited",
  "token-rate-limited",
  "upstream-failed",
  "upstream-timeout",
]);

/** Returns undefined for a failure after which the file is due again. */
function failureOf(error: unknown, attempts: number) {
  if (error instanceof DocumentError) return { errorCode: error.code, errorMessage: error.message };
  const isTemporary = !(error instanceof Fault) || (TEMPORARY.has(error.kind) && !error.isFinal);
  if (isTemporary && attempts < MAX_ATTEMPTS) return undefined;
  const message = error instanceof Fault ? error.message : "The file could not be added. See the service log.";
  return { errorCode: "server_error" as const, errorMessage: message };
}
