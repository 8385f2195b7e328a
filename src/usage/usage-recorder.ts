/** What was used: noted at each request's end, written in batches, summed by hour and day. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { resultWithin } from "../async/timeout.ts";
import type { Logger } from "../observability/logger.ts";
import type { Database } from "../storage/database.ts";
import { RECORD_COLUMNS, type UsageBatch, type UsageRecord, UsageRows } from "../storage/usage-batch.ts";
import { removeUsageBefore, removeUsageWritersBefore } from "../storage/usage-records.ts";
import { Journal } from "./journal.ts";
import { findOrphanedJournals, journalName } from "./orphaned-journals.ts";
import { writeBatches } from "./write-batches.ts";

export type { UsageRecord } from "../storage/usage-batch.ts";

export interface UsageRecorderOptions {
  database: Database;
  /** Absolute. Holds what is not in the database yet. */
  directory: string;
  logger: Logger;
  /** How long single requests are kept; sums stay. */
  recordDays: number;
  /** Of what waits while the database is away; what comes beyond it is lost, and said to be. */
  maxJournalBytes?: number;
  /** Told the number of records each time. */
  onLost?: (records: number) => void;
}

/** A process that is killed loses what it had not noted, which must be less than 250 milliseconds of requests. */
const NOTE_MILLISECONDS = 100;
/** A transaction waits for the disk, and so does all else with SQLite: fewer of them are cheaper. */
const WRITE_MILLISECONDS = 200;
const RETRY_MILLISECONDS = 1_000;
const RECORDS_PER_BATCH = 1_000;
const MAX_JOURNAL_BYTES = 256 * 1024 ** 2;
/** In memory while the disk takes nothing: some 10 MB. */
const MAX_HELD_RECORDS = 50_000;
const ORPHANED_JOURNALS_CHECK_MILLISECONDS = 30_000;
const RETENTION_MILLISECONDS = 3_600_000;
const FIRST_RETENTION_MILLISECONDS = 60_000;
const REMOVED_AT_ONCE = 500;
const REMOVAL_PAUSE_MILLISECONDS = 50;
const DAY_MILLISECONDS = 86_400_000;
const WRITERS_KEPT_DAYS = 30;
const CLOSE_MILLISECONDS = 5_000;

export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #writer = randomBytes(9).toString("base64url");
  readonly #journal: Journal;
  readonly #timers: NodeJS.Timeout[];
  #pending = new UsageRows();
  /** All that waits in the journal, as long as no try to write it has begun: it need not be read back. */
  #unread: UsageBatch[] | undefined;
  /** What the disk did not take; the database may. */
  #unkept: UsageBatch | undefined;
  /** When the disk last took nothing; undefined once it has taken something again. */
  #refusedAt: number | undefined;
  #batches = 0;
  #lost = 0;
  /** Not told yet. */
  #overflow = 0;
  #draining: Promise<void> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: UsageRecorderOptions) {
    this.#options = options;
    const path = join(options.directory, journalName(this.#writer));
    this.#journal = new Journal(path, options.maxJournalBytes ?? MAX_JOURNAL_BYTES);
    this.#timers = [
      setInterval(() => this.#note(), NOTE_MILLISECONDS).unref(),
      setInterval(() => this.#tick(), WRITE_MILLISECONDS).unref(),
      setInterval(() => void this.#writeOrphanedJournals(), ORPHANED_JOURNALS_CHECK_MILLISECONDS).unref(),
      setTimeout(() => void this.removeOld(), FIRST_RETENTION_MILLISECONDS).unref(),
      setInterval(() => void this.removeOld(), RETENTION_MILLISECONDS).unref(),
    ];
    setTimeout(() => void this.#writeOrphanedJournals(), 0).unref();
  }

  /** Costs the request little more than an entry in a list. */
  record(record: UsageRecord): void {
    const { count } = this.#pending;
    if (count >= MAX_HELD_RECORDS) {
      this.#overflow += 1;
      return;
    }
    this.#pending.add(record);
    if (count + 1 === RECORDS_PER_BATCH) this.#note();
  }

  /** Resolves once all that was recorded is in the database, or it turned out to be away. */
  async flush(): Promise<void> {
    this.#note();
    await this.#draining;
    await this.#drain();
    if (this.#pending.count === 0) return;
    // It came after what the disk did not take.
    this.#note();
    await this.#drain();
  }

  /** What the database does not take now stays on disk, for the next process with the same folder. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await resultWithin(this.flush(), CLOSE_MILLISECONDS);
    this.#note();
    this.#journal.close();
    const left = countOf(this.#unkept) + this.#pending.count;
    if (left > 0) this.#lose(left, "neither the disk nor the database took them until the end");
  }

  /** Removes records that are older than they are kept, a few at a time so that nothing waits for it. */
  async removeOld(now = Date.now()): Promise<void> {
    const { database, recordDays, logger } = this.#options;
    try {
      const before = now - recordDays * DAY_MILLISECONDS;
      for (;;) {
        const removed = await database.run((executor) => removeUsageBefore(executor, before, REMOVED_AT_ONCE));
        if (removed === 0 || this.#isClosed) break;
        await new Promise((resume) => setTimeout(resume, REMOVAL_PAUSE_MILLISECONDS));
      }
      const written = now - Math.max(WRITERS_KEPT_DAYS, recordDays) * DAY_MILLISECONDS;
      await database.run((executor) => removeUsageWritersBefore(executor, written));
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "old usage not removed yet");
    }
  }

  #tick(): void {
    this.#note();
    if (this.#draining === undefined && performance.now() - this.#failedAt > RETRY_MILLISECONDS) void this.#drain();
  }

  /** To disk first: a process that is killed while the database is slow loses nothing but the last moment. */
  #note(): void {
    if (this.#overflow > 0) this.#lose(this.#overflow, "the disk takes nothing, and what waits has reached its bound");
    this.#overflow = 0;
    const mayTryAgain = performance.now() - (this.#refusedAt ?? 0) > RETRY_MILLISECONDS;
    if (this.#unkept !== undefined && mayTryAgain) this.#keep(this.#unkept);
    const { dimensions, values, count } = this.#pending;
    if (count === 0 || this.#unkept !== undefined) return;
    this.#pending = new UsageRows();
    this.#batches += 1;
    this.#keep({ writer: this.#writer, number: this.#batches, dimensions, values });
  }

  /** Where the disk does not take it, it waits in memory, and what comes after it too. */
  #keep(batch: UsageBatch): void {
    if (this.#journal.isEmpty) this.#unread = [];
    try {
      const hasRoom = this.#journal.append(JSON.stringify(batch));
      this.#unkept = undefined;
      this.#refusedAt = undefined;
      if (hasRoom) this.#unread?.push(batch);
      else this.#lose(countOf(batch), "what waits for the database has reached its bound");
    } catch (error) {
      const isNews = this.#refusedAt === undefined;
      this.#unkept = batch;
      this.#refusedAt = performance.now();
      if (!isNews) return;
      this.#options.logger.error({ error: messageOf(error) }, "usage cannot be kept on disk; it waits in memory");
    }
  }

  #lose(records: number, reason: string): void {
    this.#lost += records;
    this.#options.onLost?.(records);
    this.#options.logger.error({ lost: records, lostSinceStart: this.#lost, reason }, "usage records lost");
  }

  #drain(): Promise<void> {
    this.#draining ??= this.#write(this.#journal, this.#unread)
      .then(() => this.#writeUnkept())
      .finally(() => {
        this.#draining = undefined;
      });
    this.#unread = undefined;
    return this.#draining;
  }

  async #write(journal: Journal, unread?: readonly UsageBatch[]): Promise<void> {
    try {
      if (unread !== undefined && !journal.isEmpty) {
        const bytes = journal.waitingBytes;
        await this.#writeToDatabase(unread);
        journal.advance(bytes);
      }
      for (;;) {
        const { lines, bytes } = journal.read();
        if (bytes === 0) return;
        await this.#writeToDatabase(lines.flatMap((line) => this.#batchIn(line)));
        journal.advance(bytes);
      }
    } catch (error) {
      this.#failedAt = performance.now();
      this.#options.logger.warn({ error: messageOf(error) }, "usage not written yet; it is kept on disk");
    }
  }

  /** In its order: only once the journal is empty. */
  async #writeUnkept(): Promise<void> {
    const batch = this.#unkept;
    if (batch === undefined || !this.#journal.isEmpty) return;
    try {
      await this.#writeToDatabase([batch]);
      // It may be in the journal meanwhile, from where it counts no second time.
      if (this.#unkept === batch) this.#unkept = undefined;
    } catch (error) {
      this.#failedAt = performance.now();
      this.#options.logger.warn({ error: messageOf(error) }, "usage not written yet; it waits in memory");
    }
  }

  /** None where a line is broken, such as by a machine that lost its power: the others must not wait for it for ever. */
  #batchIn(line: string): UsageBatch[] {
    try {
      return [toBatch(JSON.parse(line))];
    } catch (error) {
      this.#lose(1, `a line of the journal is broken: ${messageOf(error)}`);
      return [];
    }
  }

  #writeToDatabase(batches: readonly UsageBatch[]): Promise<void> {
    return writeBatches(this.#options.database, batches, (refusal) => this.#lose(1, refusal));
  }

  async #writeOrphanedJournals(): Promise<void> {
    for (const path of findOrphanedJournals(this.#options.directory, this.#writer)) {
      if (this.#isClosed) return;
      try {
        const journal = new Journal(path, MAX_JOURNAL_BYTES);
        await this.#write(journal);
        if (journal.isEmpty) this.#options.logger.info("usage of a process that was killed is written");
        journal.close();
      } catch (error) {
        this.#options.logger.warn({ error: messageOf(error) }, "usage of a process that was killed is not written yet");
      }
    }
  }
}

function countOf(batch: UsageBatch | undefined): number {
  return batch === undefined ? 0 : batch.values.length / RECORD_COLUMNS.length;
}

/** As it is, or as earlier versions wrote it: a list of records. */
function toBatch(line: UsageBatch | { writer: string; number: number; records: UsageRecord[] }): UsageBatch {
  if (!("records" in line)) return line;
  const { writer, number, records } = line;
  const { dimensions, values } = UsageRows.of(records);
  return { writer, number, dimensions, values };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
