/**
 * SQLite in a worker thread. Each commit waits for the disk, and a report reads for tens of milliseconds: on the main
 * thread, every request would wait with them.
 */

import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import type { SqliteIdentity, SqliteResult } from "./sqlite-file.ts";
import type { FromSqlite, SqliteWorkerData, ToSqlite } from "./sqlite-worker.ts";

const ENTRY = import.meta.url.endsWith(".ts") ? "./sqlite-worker.ts" : "./sqlite-worker.js";
/** Batches of usage are garbage at once; by default, the thread would keep tens of megabytes for them. */
const LIMITS = { maxYoungGenerationSizeMb: 4 };

interface Waiting {
  resolve: (result: SqliteResult) => void;
  reject: (failure: Error) => void;
}

/** Thrown by SQLite or by opening its file. */
class SqliteError extends Error {
  /** SQLite's extended result code, such as `SQLITE_FULL`, or the operating system's, such as `EACCES`. */
  readonly code: unknown;

  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
  }
}

export class SqliteThread {
  readonly #worker: Worker;
  /** Oldest first: the thread answers in the order of the statements. */
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;
  #identity: SqliteIdentity | undefined;

  constructor(workerData: SqliteWorkerData) {
    this.#worker = new Worker(new URL(ENTRY, import.meta.url), {
      workerData,
      env: environment(),
      resourceLimits: LIMITS,
    });
    this.#worker.unref();
    this.#worker.on("message", (answer: FromSqlite) => this.#settle(answer));
    this.#worker.on("error", (error) => this.#fail(String(error)));
    this.#worker.on("exit", () => this.#fail("it has ended"));
  }

  /** True once the thread has ended. A transaction that was open in it is rolled back. */
  get isEnded(): boolean {
    return this.#failure !== undefined;
  }

  execute(statement: ToSqlite): Promise<SqliteResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(statement);
      this.#waiting.push({ resolve, reject });
      // Keeps the process alive until the answer.
      if (this.#waiting.length === 1) this.#worker.ref();
    });
  }

  /** Resolves with the file's identity once it is closed. */
  async close(): Promise<SqliteIdentity | undefined> {
    if (this.isEnded) return this.#identity;
    this.#worker.ref();
    this.#worker.postMessage("close");
    await new Promise((resolve) => this.#worker.once("exit", resolve));
    return this.#identity;
  }

  #settle(answer: FromSqlite): void {
    if ("identity" in answer) {
      this.#identity = answer.identity;
      return;
    }
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    if ("result" in answer) waiting?.resolve(withBuffers(answer.result));
    else waiting?.reject(new SqliteError(answer.message, answer.code));
  }

  #fail(reason: string): void {
    this.#failure ??= new SqliteError(`The thread of the database failed: ${reason}.`, "SQLITE_IOERR");
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

/** Messages between threads make a Uint8Array of a Buffer. */
function withBuffers(result: SqliteResult): SqliteResult {
  for (const column of result.byteColumns ?? []) {
    for (const row of result.rows) {
      const bytes = row[column];
      if (bytes instanceof Uint8Array) row[column] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
  }
  return result;
}

/** With the compile cache, the thread needs 22 MB less: it does not load Node's TypeScript stripper. */
function environment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir();
  return cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) };
}
