/** Batches of requests, which run with low priority. */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { processOwner } from "../../kernel/process/process-owner.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { BatchRow } from "../../storage/schema.ts";
import type { ProjectResource } from "../responses/stored-response-queries.ts";
import { findBatch, insertBatch, listBatches, requestCancellation, takeOverBatch } from "./batch-queries.ts";
import type { BatchQueue } from "./batch-queue.ts";
import { BatchRun, type BatchRunOptions } from "./batch-run.ts";
import { MissingInputs } from "./missing-inputs.ts";

export interface BatchesOptions extends Omit<BatchRunOptions, "directory" | "missingInputs"> {
  queue: BatchQueue;
  /** Folder for temporary files. */
  directory: string;
}

export interface NewBatch {
  projectId: string;
  keyId: string;
  endpoint: string;
  inputFileId: string;
  completionWindow: string;
  windowSeconds: number;
  outputExpiresAfterSeconds: number | undefined;
  metadata: Readonly<Record<string, string>> | undefined;
}

const START_RETRY_MS = 5_000;

export class Batches {
  readonly #options: BatchesOptions;
  readonly #runs = new Set<BatchRun>();
  readonly #missingInputs = new MissingInputs();
  #isDraining = false;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** Begins to run batches, those of earlier processes included, as soon as the database can be reached. */
  async start(): Promise<void> {
    const { database, queue, logger } = this.#options;
    let isReported = false;
    while (!this.#isDraining) {
      try {
        await database.check();
        await queue.start((id) => this.#run(id));
        return;
      } catch (error) {
        if (!isReported) logger.warn({ err: error }, "batches cannot run yet");
        isReported = true;
        await pause(START_RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Throws a Fault when the project has no such input file. */
  async create({ windowSeconds, metadata, outputExpiresAfterSeconds, ...batch }: NewBatch): Promise<BatchRow> {
    const { database, queue } = this.#options;
    await this.#checkInput({ projectId: batch.projectId, id: batch.inputFileId });
    const createdAt = Date.now();
    const row: BatchRow = {
      ...batch,
      id: newId("batch_"),
      outputExpiresAfterSeconds: outputExpiresAfterSeconds ?? null,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      status: "validating",
      errors: null,
      total: 0,
      completed: 0,
      failed: 0,
      outputFileId: null,
      errorFileId: null,
      createdAt,
      expiresAt: createdAt + windowSeconds * 1000,
      inProgressAt: null,
      finalizingAt: null,
      cancellingAt: null,
      endedAt: null,
      runId: null,
    };
    await database.run((executor) => insertBatch(executor, row));
    await queue.add(row);
    return row;
  }

  /** Throws a Fault when the project has no such batch. */
  async find(resource: ProjectResource): Promise<BatchRow> {
    const row = await this.#options.database.run((executor) => findBatch(executor, resource));
    if (row === undefined) throw new Fault("not-found", `No batch found with id '${resource.id.slice(0, 100)}'.`);
    return row;
  }

  /** Throws a Fault for an unknown cursor. */
  async list(page: PageRequest & { projectId: string }): Promise<Page<BatchRow>> {
    return this.#options.database.run((executor) => listBatches(executor, page));
  }

  /** Asks for the end of a batch. Throws a Fault for an unknown batch and for one that has ended. */
  async cancel(resource: ProjectResource): Promise<BatchRow> {
    const { endedAt, status } = await this.find(resource);
    if (endedAt !== null) {
      throw new Fault("conflict", `Cannot cancel a batch with status '${status}'.`);
    }
    await this.#options.database.run((executor) => requestCancellation(executor, resource, Date.now()));
    return this.find(resource);
  }

  /** Starts no further lines. */
  drain(): void {
    this.#isDraining = true;
    this.#options.queue.drain();
    for (const run of this.#runs) run.drain();
  }

  /** Ends the running lines, which the next process repeats, and stores those that are answered. */
  async close(): Promise<void> {
    this.drain();
    for (const run of this.#runs) run.stop();
    await this.#options.queue.close();
  }

  async #run(id: string): Promise<boolean> {
    const { database, logger } = this.#options;
    const runId = randomUUID();
    const batch = await database.run((executor) => takeOverBatch(executor, id, runId));
    if (batch === undefined) return true;
    const directory = await mkdtemp(join(this.#options.directory, `${processOwner()}.`));
    const missingInputs = this.#missingInputs;
    const run = new BatchRun({ ...this.#options, directory, missingInputs }, { ...batch, runId });
    this.#runs.add(run);
    if (this.#isDraining) run.drain();
    logger.info({ batch: id, status: batch.status, answered: batch.completed + batch.failed }, "batch runs");
    try {
      const hasEnded = await run.run();
      logger.info({ batch: id, hasEnded }, hasEnded ? "batch ended" : "batch interrupted");
      return hasEnded;
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
