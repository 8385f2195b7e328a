/** Batches of requests, which run with low priority. */

import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import { processOwner } from "../../kernel/process/process-owner.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { type BatchJobs, startBatchJobs } from "./batch-jobs.ts";
import { partsFolder } from "./batch-parts.ts";
import {
  type ClaimedBatch,
  findBatch,
  insertBatch,
  listBatches,
  removeBatches,
  requestCancellation,
} from "./batch-queries.ts";
import type { BatchRow } from "./batch-rows.ts";
import { BatchRun, type BatchRunOptions } from "./batch-run.ts";
import { MissingInputs } from "./missing-inputs.ts";

export interface BatchesOptions extends Omit<BatchRunOptions, "directory" | "missingInputs"> {
  concurrentBatches: number;
  /** Folder for temporary files. */
  directory: string;
}

export interface NewBatch {
  projectId: string;
  keyId: string;
  endpoint: string;
  inputFileId: string;
  /** The input was written for this batch, rather than uploaded by a client. */
  ownsInput: boolean;
  completionWindow: string;
  windowSeconds: number;
  outputExpiresAfterSeconds: number | undefined;
  metadata: Readonly<Record<string, string>> | undefined;
  /** Lines of the input; 0 before they are counted. */
  total: number;
}

export class Batches {
  readonly #options: BatchesOptions;
  readonly #runs = new Set<BatchRun>();
  readonly #missingInputs = new MissingInputs();
  #jobs: BatchJobs | undefined;
  #isDraining = false;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** Starts to run batches, including unfinished ones of earlier processes. */
  start(): void {
    const { database, logger, concurrentBatches: concurrency } = this.#options;
    this.#jobs = startBatchJobs({ database, logger, concurrency, run: (batch, signal) => this.#run(batch, signal) });
  }

  /** Throws a Fault when the project has no such input file, or stores more than its limit: results come on top of it. */
  async create({
    windowSeconds,
    metadata,
    outputExpiresAfterSeconds,
    ownsInput,
    ...batch
  }: NewBatch): Promise<BatchRow> {
    const { database, files } = this.#options;
    await this.#checkInput({ projectId: batch.projectId, id: batch.inputFileId });
    await files.checkRoom(batch.projectId, 0);
    const createdAt = Date.now();
    const row: BatchRow = {
      ...batch,
      id: newId("batch_"),
      ownsInput: ownsInput ? 1 : 0,
      outputExpiresAfterSeconds: outputExpiresAfterSeconds ?? null,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      status: "validating",
      errors: null,
      completed: 0,
      failed: 0,
      unanswered: 0,
      ...{ promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 },
      outputFileId: null,
      errorFileId: null,
      createdAt,
      expiresAt: createdAt + windowSeconds * 1000,
      inProgressAt: null,
      finalizingAt: null,
      cancellingAt: null,
      endedAt: null,
      runId: null,
      dueAt: 0,
    };
    await database.run((executor) => insertBatch(executor, row));
    this.#jobs?.wake();
    return row;
  }

  /** Throws a Fault when the project has no such batch. */
  async find(resource: ProjectResource): Promise<BatchRow> {
    const row = await this.#options.database.run((executor) => findBatch(executor, resource));
    if (row === undefined) throw new Fault("not-found", `No batch found with id '${resource.id.slice(0, 100)}'.`);
    return row;
  }

  /** Throws a Fault for an unknown cursor. */
  async list(page: PageRequest & { projectId: string; endpoint?: string }): Promise<Page<BatchRow>> {
    return this.#options.database.run((executor) => listBatches(executor, page));
  }

  /** Asks for the end of a batch. Throws a Fault for an unknown batch and for one that has ended. */
  async cancel(resource: ProjectResource): Promise<BatchRow> {
    const { endedAt, status } = await this.find(resource);
    if (endedAt !== null) {
      throw new Fault("conflict", `Cannot cancel a batch with status '${status}'.`);
    }
    await this.#options.database.run((executor) => requestCancellation(executor, resource, Date.now()));
    this.#jobs?.wake();
    return this.find(resource);
  }

  /** Deletes a batch with its results, and an input of its own. Throws a Fault for an unknown batch and for one that has not ended. */
  async delete(resource: ProjectResource): Promise<void> {
    const { endedAt, outputFileId, errorFileId, inputFileId, ownsInput } = await this.find(resource);
    if (endedAt === null) throw new Fault("conflict", "The batch has not ended. Cancel it first.");
    const { database, files } = this.#options;
    for (const id of [outputFileId, errorFileId, ownsInput === 1 ? inputFileId : null]) {
      if (id !== null) await files.remove({ projectId: resource.projectId, id });
    }
    await files.blobs.delete(partsFolder(resource.id));
    await database.run((executor) => removeBatches(executor, [resource.id]));
  }

  /** Starts no further lines. */
  drain(): void {
    this.#isDraining = true;
    this.#jobs?.drain();
    for (const run of this.#runs) run.drain();
  }

  /** Ends the running lines, which the next process repeats, and stores those that are answered. */
  async close(): Promise<void> {
    this.drain();
    await this.#jobs?.close();
  }

  async #run(batch: ClaimedBatch, signal: AbortSignal): Promise<JobEnd> {
    const { logger } = this.#options;
    const { id, status, completed, failed } = batch;
    const directory = await mkdtemp(join(this.#options.directory, `${processOwner()}.`));
    const missingInputs = this.#missingInputs;
    const run = new BatchRun({ ...this.#options, directory, missingInputs }, batch);
    this.#runs.add(run);
    if (this.#isDraining) run.drain();
    signal.addEventListener("abort", () => run.stop());
    logger.info({ batch: id, status, answered: completed + failed }, "batch runs");
    try {
      const end = await run.run();
      const hasEnded = end === "over";
      const isPaused = typeof end === "object";
      const unended = isPaused ? "batch waits; it leaves its place to others" : "batch interrupted";
      logger.info({ batch: id, hasEnded, ...(isPaused && end) }, hasEnded ? "batch ended" : unended);
      return !hasEnded && this.#isDraining ? "interrupted" : end;
    } finally {
      this.#runs.delete(run);
      await rm(directory, { recursive: true, force: true });
    }
  }

  async #checkInput(resource: ProjectResource): Promise<void> {
    const param = "input_file_id";
    const file = await this.#options.files.find(resource).catch((failure: unknown) => {
      if (!(failure instanceof Fault) || failure.kind !== "not-found") throw failure;
      throw invalidRequest(`There is no file ${JSON.stringify(resource.id.slice(0, 100))}.`, param, "invalid_value");
    });
    if (file.purpose === "batch") return;
    throw invalidRequest(`The file has the purpose ${file.purpose}; upload it with batch.`, param, "invalid_value");
  }
}
