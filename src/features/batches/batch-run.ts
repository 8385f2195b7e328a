/** Runs one batch: validates its input, answers its lines with low priority, and writes its files. */

import { setTimeout as pause } from "node:timers/promises";
import type { Caller } from "../../contracts/caller.ts";
import { Fault } from "../../kernel/faults.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import { Standstill } from "../../kernel/jobs/standstill.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { toAnsweredLine } from "../../wire/openai/batch-lines.ts";
import type { FileStore } from "../files/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { BatchInput } from "./batch-input.ts";
import { BatchParts } from "./batch-parts.ts";
import { type BatchEnd, readOwnedStatus, updateOwnedBatch } from "./batch-queries.ts";
import { roomErrors } from "./batch-room.ts";
import type { BatchRow } from "./batch-rows.ts";
import { KEY_REVOKED, STATUS_AFTER, type Stop } from "./batch-stop.ts";
import { type EndingRun, endWithResults, storeEnd } from "./end-batch-run.ts";
import { type LineAnswer, outcomeOf } from "./line-outcome.ts";
import type { LineRequest } from "./line-reader.ts";
import { isMissing, type MissingInputs } from "./missing-inputs.ts";
import { PendingLines } from "./pending-lines.ts";
import { type ScanLimits, type ScannedInput, scanInput } from "./scan-input.ts";

export interface BatchRunOptions extends ScanLimits {
  database: Database;
  files: FileStore;
  logger: Logger;
  /** Folder for temporary files of this run. */
  directory: string;
  /** Lines that run at the same time. */
  concurrency: number;
  /** Caller of a batch's key; undefined when the key no longer works. */
  callerOf: (keyId: string) => Promise<Caller | undefined>;
  /** Makes the request of a line. Rejects with the signal's reason when that aborts first. */
  runLine: (
    request: { caller: Caller; path: string; body: LineRequest["body"] },
    signal: AbortSignal,
  ) => Promise<LineAnswer>;
  onAnswered: (isError: boolean) => void;
  outbox: Pick<WebhookOutbox, "add">;
  missingInputs: MissingInputs;
}

const POLL_MS = 500;
const FLUSH_MS = 1_000;
const IDLE_MS = 50;

export class BatchRun {
  readonly #options: BatchRunOptions;
  readonly #batch: BatchRow;
  readonly #owned: { id: string; projectId: string; runId: string };
  readonly #parts: BatchParts;
  readonly #lines = new AbortController();
  /** Failed attempts by line. */
  readonly #attempts = new Map<number, number>();
  #flushing: Promise<void> = Promise.resolve();
  readonly #standstill = new Standstill();
  #stop: Stop | undefined;
  /** Set once the batch gives its place up, because all its lines wait. */
  #paused: { retryAfterMs: number } | undefined;
  #isDraining = false;

  /** `batch`: as it was when this run, by its `runId`, took it over. */
  constructor(options: BatchRunOptions, batch: BatchRow & { runId: string }) {
    this.#options = options;
    this.#batch = batch;
    this.#owned = { id: batch.id, projectId: batch.projectId, runId: batch.runId };
    const { database, files, directory } = options;
    this.#parts = new BatchParts({ database, blobs: files.blobs, owned: this.#owned, directory });
  }

  get #ending(): EndingRun {
    return { batch: this.#batch, runId: this.#owned.runId, parts: this.#parts };
  }

  /** Starts no further line; resolves `run` once the running ones have ended. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends the running lines, which the next run repeats. */
  stop(): void {
    this.#stopFor("stopping");
  }

  /** Ends as `over` once the batch has ended, or another run has it. */
  async run(): Promise<JobEnd> {
    try {
      return await this.#runToEnd();
    } catch (failure) {
      if (this.#lines.signal.aborted) return "retry";
      throw failure;
    }
  }

  async #runToEnd(): Promise<JobEnd> {
    const input = await this.#scan();
    if (typeof input === "string") return input === "ended" ? "over" : "retry";
    const answered = new Uint8Array(input.length);
    for await (const { index } of this.#parts.read()) answered[index] = 1;
    await this.#answerAll(input, answered);
    if (this.#stop === "taken-over") return "over";
    if (this.#stop === undefined && this.#paused !== undefined) {
      const windowMs = Math.max(0, this.#batch.expiresAt - Date.now());
      return { retryAfterMs: Math.min(windowMs, this.#paused.retryAfterMs) };
    }
    if (this.#isDraining || this.#stop === "stopping") {
      if (answered.some((each) => each === 0)) return "retry";
    }
    await this.#end(input, answered);
    return "over";
  }

  /** Returns the input. `ended`: it is not valid, and the batch has failed; `missing`: it may return. */
  async #scan(): Promise<BatchInput | "ended" | "missing"> {
    const { files, database, missingInputs } = this.#options;
    const { id, status, endpoint, inputFileId } = this.#batch;
    let bytes: AsyncIterable<Uint8Array>;
    try {
      bytes = await files.readStored(inputFileId);
    } catch (failure) {
      if (!isMissing(failure)) throw failure;
      return this.#awaitInput(failure);
    }
    missingInputs.forget(id);
    // Nothing is answered yet, so that a cancelled batch ends here. A later one also lists its lines.
    const polling = status === "validating" ? this.#startPolling() : undefined;
    let scanned: ScannedInput;
    try {
      scanned = await scanInput(bytes, endpoint, this.#options, this.#lines.signal);
    } catch (failure) {
      const end = this.#endOfScan();
      if (end === undefined) throw failure;
      await storeEnd(this.#options, this.#ending, end);
      return "ended";
    } finally {
      polling?.stop();
    }
    const { lines, errors } = scanned;
    if (status === "validating") errors.push(...(await roomErrors(files, this.#batch.projectId)));
    if (status === "validating" && errors.length > 0) {
      await storeEnd(this.#options, this.#ending, { status: "failed", errors: JSON.stringify(errors) });
      return "ended";
    }
    await database.run(async (executor) => {
      await updateOwnedBatch(executor, this.#owned, { total: lines.length });
      const change = { status: "in_progress", inProgressAt: Date.now() } as const;
      // It may be cancelled already.
      await updateOwnedBatch(executor, this.#owned, change, "validating");
    });
    return new BatchInput(files, this.#batch, lines);
  }

  /** Returns the end of a batch that stopped before its lines were read; undefined when it has not ended. */
  #endOfScan(): BatchEnd | undefined {
    if (this.#stop === "cancelled" || this.#stop === "expired") return { status: STATUS_AFTER[this.#stop] };
    return undefined;
  }

  /** Another replica may have the input, or the storage soon again. Once it counts as lost, the batch fails. */
  async #awaitInput(failure: Fault): Promise<"ended" | "missing"> {
    const { missingInputs, logger } = this.#options;
    const { id, expiresAt } = this.#batch;
    const { isNew, isLost } = missingInputs.note(id);
    if (!isLost && expiresAt > Date.now()) {
      if (isNew) logger.error({ err: failure, batch: id }, "the input of a batch is missing; waiting for it");
      return "missing";
    }
    missingInputs.forget(id);
    const error = { code: "missing_input", message: failure.message, param: "input_file_id", line: null };
    const end = { status: "failed", errors: JSON.stringify([error]) } as const;
    await endWithResults(this.#options, this.#ending, end);
    return "ended";
  }

  async #answerAll(input: BatchInput, answered: Uint8Array): Promise<void> {
    const pending = new PendingLines(input.length, (index) => answered[index] === 1);
    if (!pending.isEmpty) await this.#poll();
    const polls = [this.#startPolling(), new Poll(() => this.#flush(), { everyMs: FLUSH_MS })];
    try {
      this.#standstill.progress();
      let running = 0;
      const work = async () => {
        while (this.#stop === undefined && this.#paused === undefined && !this.#isDraining) {
          const index = pending.take(Date.now());
          if (index !== undefined) {
            running += 1;
            await this.#answer(index, input, pending, answered).finally(() => {
              running -= 1;
            });
          } else if (pending.isEmpty && running === 0) return;
          else {
            const isWaiting = running === 0 && pending.isPaused(Date.now()) && this.#parts.isEmpty;
            if (isWaiting) this.#paused = this.#standstill.end;
            await pause(IDLE_MS);
          }
          await this.#makeRoom();
        }
      };
      await Promise.all(Array.from({ length: Math.min(this.#options.concurrency, input.length) }, work));
    } finally {
      for (const poll of polls) poll.stop();
    }
    await this.#flushing;
    if (this.#stop !== "taken-over" && !(await this.#parts.flush())) this.#stopFor("taken-over");
  }

  async #answer(index: number, input: BatchInput, pending: PendingLines, answered: Uint8Array): Promise<void> {
    const { callerOf, runLine, onAnswered, logger } = this.#options;
    const { endpoint, keyId } = this.#batch;
    const { signal } = this.#lines;
    try {
      const caller = await callerOf(keyId);
      if (caller === undefined) return this.#stopFor("key-revoked");
      const { customId, body } = await input.read(index);
      const answer = await runLine({ caller, path: endpoint, body }, signal);
      const attempts = (this.#attempts.get(index) ?? 0) + 1;
      const outcome = outcomeOf(answer, attempts);
      if (outcome.type === "retry") {
        if (outcome.isFailure) this.#attempts.set(index, attempts);
        if (outcome.pausesBatch) {
          pending.pause(Date.now() + outcome.delayMs);
          this.#standstill.refused(answer.retryAfterSeconds);
        }
        return pending.retry(index, Date.now() + outcome.delayMs);
      }
      this.#attempts.delete(index);
      this.#parts.add({ index, isError: outcome.isError, json: toAnsweredLine(customId, answer), usage: answer.usage });
      answered[index] = 1;
      this.#standstill.progress();
      onAnswered(outcome.isError);
    } catch (failure) {
      if (signal.aborted) return;
      // The next run waits for the input.
      if (isMissing(failure)) return this.#stopFor("stopping");
      // The database or the storage of files is unavailable.
      logger.warn({ err: failure, batch: this.#batch.id }, "a line of a batch could not be run yet");
      pending.pause(Date.now() + 1_000);
      pending.retry(index, Date.now() + 1_000);
    }
  }

  #startPolling(): Poll {
    return new Poll(() => this.#poll(), { everyMs: POLL_MS });
  }

  /** Notices cancellation, expiry, and another run. */
  async #poll(): Promise<void> {
    if (this.#batch.expiresAt <= Date.now()) this.#stopFor("expired");
    try {
      const status = await this.#options.database.run((executor) => readOwnedStatus(executor, this.#owned));
      if (status === undefined) this.#stopFor("taken-over");
      if (status === "cancelling") this.#stopFor("cancelled");
    } catch (error) {
      this.#options.logger.warn({ err: error, batch: this.#batch.id }, "status of a batch not read");
    }
  }

  /** Stores answers when there are many. Waits while the storage is unavailable: lines that run would fill memory. */
  async #makeRoom(): Promise<void> {
    while (this.#parts.isFull && this.#stop === undefined && !this.#isDraining) {
      await this.#flush();
      if (this.#parts.isFull) await pause(FLUSH_MS);
    }
  }

  #flush(): Promise<void> {
    this.#flushing = this.#flushing.then(async () => {
      try {
        if (this.#stop !== "taken-over" && !(await this.#parts.flush())) this.#stopFor("taken-over");
      } catch (error) {
        this.#options.logger.warn({ err: error, batch: this.#batch.id }, "answers of a batch not stored yet");
      }
    });
    return this.#flushing;
  }

  #stopFor(reason: Stop): void {
    this.#stop ??= reason;
    this.#lines.abort(new Fault("client-left", `The batch stopped: ${reason}.`));
  }

  async #end(input: BatchInput, answered: Uint8Array): Promise<void> {
    const { database } = this.#options;
    const finalizingAt = Date.now();
    const begun = await database.run(async (executor) => {
      await updateOwnedBatch(executor, this.#owned, { status: "finalizing", finalizingAt }, "in_progress");
      return readOwnedStatus(executor, this.#owned);
    });
    if (begun === undefined) return;
    const unansweredCount = answered.reduce((count, each) => count + (each === 0 ? 1 : 0), 0);
    const status = unansweredCount === 0 ? "completed" : STATUS_AFTER[this.#stop ?? "cancelled"];
    const unanswered = input.unanswered(answered, status === "expired" ? "expired" : "cancelled");
    const end: BatchEnd = { status, ...(status === "failed" && { errors: JSON.stringify([KEY_REVOKED]) }) };
    await endWithResults(this.#options, this.#ending, end, { unanswered, left: unansweredCount });
  }
}
