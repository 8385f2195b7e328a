/** Runs in a worker thread: executes SQL on one SQLite file. */

import { parentPort, workerData } from "node:worker_threads";
import { SqliteFile, type SqliteIdentity, type SqliteResult } from "./sqlite-file.ts";

export interface SqliteWorkerData {
  path: string;
  /** Of the file that an earlier thread had open. */
  identity: SqliteIdentity | undefined;
}

export interface ToSqlite {
  text: string;
  parameters: readonly unknown[];
  /** Begins a connection's work: opens the file, or checks that it is still the one that was opened. */
  isFirst: boolean;
}

/** Answers in the order of the statements; `identity` after the file is closed. */
export type FromSqlite =
  | { result: SqliteResult }
  | { message: string; code: unknown }
  | { identity: SqliteIdentity | undefined };

const { path, identity }: SqliteWorkerData = workerData;
const file = new SqliteFile(path, identity);

function answerTo({ text, parameters, isFirst }: ToSqlite): FromSqlite {
  try {
    if (isFirst) file.ensureOpen();
    return { result: file.execute(text, parameters) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Messages between threads carry no properties of errors.
    return { message: error.message, code: "code" in error ? error.code : undefined };
  }
}

parentPort?.on("message", (statement: ToSqlite | "close") => {
  if (statement !== "close") {
    parentPort?.postMessage(answerTo(statement));
    return;
  }
  parentPort?.postMessage({ identity: file.close() } satisfies FromSqlite);
  parentPort?.close();
});
