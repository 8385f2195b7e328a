/** Records usage at the end of each request: journaled on disk, then added in batches to sums in the database. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { resultWithin } from "../../kernel/async/timeout.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { Journal } from "./journal.ts";
import { findOrphanedJournals, journalName } from "./orphaned-journals.ts";
import { COSTS, RECORD_COLUMNS, type UsageBatch, type UsageRecord, UsageRows, type UsageValue } from "./usage-batch.ts";
import { type WriteWith, writeBatches } from "./write-batches.ts";

export type { UsageRecord } from "./usage-batch.ts";

export interface UsageRecorderOptions {
  database: Database;
  /** Absolute path of the journals of records that are not in the database yet. */
  directory: string;
  logger: Logger;
  /** Bound of the journal while the database is unavailable; records beyond it are lost and logged. */
  maxJournalBytes?: number;
  /** Called with the number of records that were lost. */
  onLost?: (records: number) => void;
  /** Adds records of the same requests to each transaction. */
  writeWith?: WriteWith;
  /** Resolves once limits have counted what is recorded. Until then it is not written, or they could count it twice. */
  untilCounted?: () => Promise<unknown>;
}

/** A killed process loses the records that it had not journaled: at most 250 ms of requests. */
const NOTE_MS = 100;
/** Each transaction waits for fsync, which with SQLite blocks the event loop: fewer are cheaper. */
const WRITE_MS = 500;
const RETRY_MS = 1_000;
const RECORDS_PER_BATCH = 1_000;
const MAX_JOURNAL_BYTES = 256 * 1024 ** 2;
/** Records held in memory while the disk refuses writes: about 10 MB. */
const MAX_HELD_RECORDS = 50_000;
const ORPHANED_JOURNALS_CHECK_MS = 30_000;
const CLOSE_MS = 5_000;

export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #writer = randomBytes(9).toString("base64url");
  readonly #journal: Journal;
  readonly #polls: readonly Poll[];
  #pending = new UsageRows();
  /** Batches in the journal that need not be read back, until the first attempt to write them. */
  #unread: UsageBatch[] | undefined;
  /** Batch that the disk refused; the database may accept it. */
  #unkept: UsageBatch | undefined;
  /** When the disk last refused a write; undefined after a successful one. */
  #refusedAt: number | undefined;
  #batches = 0;
  #lost = 0;
  /** Lost records that are not reported yet. */
  #overflow = 0;
  #draining: Promise<void> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: UsageRecorderOptions) {
    this.#options = options;
    const path = join(options.directory, journalName(this.#writer));
    this.#journal = new Journal(path, options.maxJournalBytes ?? MAX_JOURNAL_BYTES);
    this.#polls = [
      new Poll(() => this.#note(), { everyMs: NOTE_MS }),
      new Poll(() => this.#tick(), { everyMs: WRITE_MS }),
      new Poll(() => this.#writeOrphanedJournals(), { everyMs: ORPHANED_JOURNALS_CHECK_MS, firstMs: 0 }),
    ];
  }

  /** Adds a record to the current batch, in memory. */
  record(record: UsageRecord): void {
    const { count } = this.#pending;
    if (count >= MAX_HELD_RECORDS) {
      this.#overflow += 1;
      return;
    }
    this.#pending.add(record);
    if (count + 1 === RECORDS_PER_BATCH) this.#note();
  }

  /** Adds records of a worker to the current batch. */
  recordRows(rows: UsageRows["content"]): void {
    const added = rows.values.length / RECORD_COLUMNS.length;
    if (this.#pending.count + added > MAX_HELD_RECORDS) {
      this.#overflow += added;
      return;
    }
    this.#pending.append(rows);
    if (this.#pending.count >= RECORDS_PER_BATCH) this.#note();
  }

  /** Resolves once everything recorded is in the database; with false if the database is unavailable. */
  async flush(): Promise<boolean> {
    this.#note();
    await this.#draining;
    const failedAt = this.#failedAt;
    await this.#drain();
    if (this.#pending.count > 0) {
      // These records arrived after the batch that the disk refused.
      this.#note();
      await this.#drain();
    }
    return this.#failedAt === failedAt;
  }

  /** Leaves unwritten records in the journal, for the next process with the same folder. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const poll of this.#polls) poll.stop();
    await resultWithin(this.flush(), CLOSE_MS);
    this.#note();
    this.#journal.close();
    const unwritten = countOf(this.#unkept) + this.#pending.count;
    if (unwritten > 0) this.#lose(unwritten, "neither the disk nor the database accepted them before shutdown");
  }

  #tick(): void {
    this.#note();
    if (this.#draining === undefined && performance.now() - this.#failedAt > RETRY_MS) void this.#drain();
  }

  /** Journals the current batch first: a process killed while the database is slow loses only the last interval. */
  #note(): void {
    if (this.#overflow > 0) this.#lose(this.#overflow, "the disk refuses writes and the buffer in memory is full");
    this.#overflow = 0;
    const mayTryAgain = performance.now() - (this.#refusedAt ?? 0) > RETRY_MS;
    if (this.#unkept !== undefined && mayTryAgain) this.#keep(this.#unkept);
    const { content, count } = this.#pending;
    if (count === 0 || this.#unkept !== undefined) return;
    this.#pending = new UsageRows();
    this.#batches += 1;
    this.#keep({ writer: this.#writer, number: this.#batches, ...content });
  }

  /** A batch that the disk refuses waits in memory, and later ones behind it. */
  #keep(batch: UsageBatch): void {
    if (this.#journal.isEmpty) this.#unread = [];
    try {
      const hasRoom = this.#journal.append(JSON.stringify({ ...batch, columns: RECORD_COLUMNS }));
      this.#unkept = undefined;
      this.#refusedAt = undefined;
      if (hasRoom) this.#unread?.push(batch);
      else this.#lose(countOf(batch), "the journal has reached its maximum size");
    } catch (error) {
      const isNews = this.#refusedAt === undefined;
      this.#unkept = batch;
      this.#refusedAt = performance.now();
      if (!isNews) return;
      this.#options.logger.error(
        { error: messageOf(error) },
        "usage cannot be journaled on disk; buffering it in memory",
      );
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
      this.#options.logger.warn(
        { error: messageOf(error) },
        "usage not written to the database yet; it is kept in the journal",
      );
    }
  }

  /** Keeps the order: only once the journal is empty. */
  async #writeUnkept(): Promise<void> {
    const batch = this.#unkept;
    if (batch === undefined || !this.#journal.isEmpty) return;
    try {
      await this.#writeToDatabase([batch]);
      // It may be in the journal by now; its batch number prevents counting it twice.
      if (this.#unkept === batch) this.#unkept = undefined;
    } catch (error) {
      this.#failedAt = performance.now();
      this.#options.logger.warn(
        { error: messageOf(error) },
        "usage not written to the database yet; it is buffered in memory",
      );
    }
  }

  /** Empty for a corrupt line, such as after a power loss, which must not block the lines after it. */
  #batchIn(line: string): UsageBatch[] {
    try {
      return [toBatch(JSON.parse(line))];
    } catch (error) {
      this.#lose(1, `a line of the journal is corrupt: ${messageOf(error)}`);
      return [];
    }
  }

  async #writeToDatabase(batches: readonly UsageBatch[]): Promise<void> {
    const { database, writeWith, untilCounted } = this.#options;
    await untilCounted?.();
    await writeBatches(database, batches, (refusal) => this.#lose(1, refusal), writeWith);
  }

  async #writeOrphanedJournals(): Promise<void> {
    for (const path of findOrphanedJournals(this.#options.directory, this.#writer)) {
      if (this.#isClosed) return;
      try {
        const journal = new Journal(path, MAX_JOURNAL_BYTES);
        await this.#write(journal);
        if (journal.isEmpty) this.#options.logger.info("wrote the usage journal of a killed process");
        journal.close();
      } catch (error) {
        this.#options.logger.warn({ error: messageOf(error) }, "usage journal of a killed process not written yet");
      }
    }
  }
}

function countOf(batch: UsageBatch | undefined): number {
  return batch === undefined ? 0 : batch.values.length / RECORD_COLUMNS.length;
}

/** A line of the journal. Lines of versions before 0.2 are lists of records, or do not name their columns. */
type JournalLine = Pick<UsageBatch, "writer" | "number"> &
  (
    | { records: UsageRecord[] }
    | (Pick<UsageBatch, "dimensions" | "labels" | "labelled"> & { values: UsageValue[]; columns?: string[] })
  );

const UNNAMED_COLUMNS = [
  ...["at", "dimensionId", "promptTokens", "cachedTokens", "completionTokens", "reasoningTokens", "characters"],
  ...["audioMilliseconds", "costNanoDollars", "durationMilliseconds", "outcome"],
];

/** Columns of dimensions that earlier versions did not have. */
const NEW_COLUMNS = { serviceTier: null, isBatch: 0, imageSource: null, imageSize: null };

/** Values of columns that a line lacks: costs that were not recorded are unknown. */
const missing = RECORD_COLUMNS.map((column) => ((COSTS as readonly string[]).includes(column) ? null : 0));

function toBatch(line: JournalLine): UsageBatch {
  const { writer, number } = line;
  if ("records" in line) {
    return { writer, number, ...UsageRows.of(line.records).content };
  }
  const { dimensions, values, labels, labelled, columns = UNNAMED_COLUMNS } = line;
  const places = RECORD_COLUMNS.map((column) => columns.indexOf(column));
  const rows = Array.from({ length: values.length / columns.length }, (_, row) => row * columns.length);
  return {
    writer,
    number,
    dimensions: dimensions.map((dimension) => ({ ...NEW_COLUMNS, ...dimension })),
    values: rows.flatMap((start) =>
      places.map((place, column) => (place === -1 ? missing[column] : values[start + place]) ?? null),
    ),
    labels,
    labelled,
  };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
