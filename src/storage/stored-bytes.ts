/** Bytes that each project stores, so that no project fills the disk of all. */

import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { HOUR_MS, MINUTE_MS } from "../kernel/durations.ts";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Database, Executor } from "./database.ts";
import type { Schema } from "./schema.ts";

export interface ContentSize {
  /** What the next page comes after. */
  id: string;
  projectId: string;
  /** PostgreSQL returns sums as text. */
  bytes: number | string;
}

/** Reads the sizes of at most `limit` rows after `after`, in the order of `id`. */
export type ReadSizes = (executor: Executor, after: string, limit: number) => Promise<readonly ContentSize[]>;

/** Returns what reads the sizes of a column, in a table whose rows have an ID and a project. */
export function sizesOf<Name extends keyof Schema & string>(
  table: Name,
  column: keyof Schema[Name] & string,
): ReadSizes {
  return async (executor, after, limit) => {
    const query = sql<ContentSize>`
      select id, ${sql.ref("projectId")}, length(${sql.ref(column)}) as bytes
      from ${sql.table(table)}
      where id > ${after}
      order by id
      limit ${limit}
    `;
    return (await query.execute(executor)).rows;
  };
}

export interface StoredBytesOptions {
  database: Database;
  logger: Logger;
  /** One for each table that counts. */
  sizes: readonly ReadSizes[];
  maxSizePerProject: number;
  /** For messages. */
  texts: {
    /** Plural: "responses and conversations". */
    subject: string;
    /** What a caller can do, as the beginning of a sentence: "Delete some". */
    wayOut: string;
    /** Name of the limit: "responses.max_size_per_project". */
    setting: string;
  };
}

/** Deletions and other replicas count from the next measurement on. */
const MEASURED_FOR_MS = HOUR_MS;
/** A project at its limit is measured again this often, since it may have deleted content. */
const RECHECK_MS = 10_000;
const ROWS_AT_ONCE = 1_000;
/** Lets other work use the database between two pages. */
const PAUSE_MS = 20;
const WARNING_MS = MINUTE_MS;

export class StoredBytes {
  readonly #options: StoredBytesOptions;
  #bytes = new Map<string, number>();
  /** Bytes added while a measurement runs, which may have passed their place. */
  #added: Map<string, number> | undefined;
  #measuring: Promise<void> | undefined;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: StoredBytesOptions) {
    this.#options = options;
  }

  add(projectId: string, bytes: number): void {
    for (const counts of [this.#bytes, this.#added]) counts?.set(projectId, (counts.get(projectId) ?? 0) + bytes);
  }

  /** Throws a Fault when the project has reached its limit. Until the first measurement, counts what was added since. */
  async checkRoom(projectId: string): Promise<void> {
    const age = performance.now() - this.#measuredAt;
    if (age > MEASURED_FOR_MS) void this.measure();
    if (this.#hasRoom(projectId)) return;
    if (age > RECHECK_MS) await this.measure();
    if (this.#hasRoom(projectId)) return;
    throw this.#refusal(projectId);
  }

  /** Reads the sizes of all rows, in pages. Never rejects. */
  measure(): Promise<void> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #measure(): Promise<void> {
    const { logger } = this.#options;
    this.#added = new Map();
    try {
      const sizes = new Map<string, number>();
      const add = (projectId: string, bytes: number) => sizes.set(projectId, (sizes.get(projectId) ?? 0) + bytes);
      for await (const { projectId, bytes } of this.#contentSizes()) add(projectId, Number(bytes));
      for (const [projectId, bytes] of this.#added) add(projectId, bytes);
      this.#bytes = sizes;
      this.#measuredAt = performance.now();
    } catch (error) {
      if (!this.#isClosed)
        logger.warn({ err: error }, `the size of ${this.#options.texts.subject} is not measured yet`);
    } finally {
      this.#added = undefined;
    }
  }

  /** Reads all tables in small steps. */
  async *#contentSizes() {
    for (const read of this.#options.sizes) {
      for (let after = ""; !this.#isClosed; await pause(PAUSE_MS, undefined, { ref: false })) {
        const rows = await this.#options.database.run((executor) => read(executor, after, ROWS_AT_ONCE));
        yield* rows;
        if (rows.length < ROWS_AT_ONCE) break;
        after = rows.at(-1)?.id ?? "";
      }
    }
  }

  #hasRoom(projectId: string): boolean {
    return (this.#bytes.get(projectId) ?? 0) < this.#options.maxSizePerProject;
  }

  #refusal(projectId: string): Fault {
    const { logger, maxSizePerProject, texts } = this.#options;
    const { subject, wayOut, setting } = texts;
    const bytes = this.#bytes.get(projectId) ?? 0;
    if (performance.now() - this.#warnedAt > WARNING_MS) {
      this.#warnedAt = performance.now();
      logger.warn({ projectId, bytes, maxSizePerProject }, `a project stores no further ${subject}`);
    }
    const message = `This project stores ${bytes} bytes of ${subject}; the limit is ${maxSizePerProject}. ${wayOut}, or ask the operator to raise ${setting}.`;
    return new Fault("quota-exhausted", message, { code: "insufficient_quota" });
  }
}
