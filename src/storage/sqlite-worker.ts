/** Runs in a worker thread: executes SQL on one SQLite file. */

import { parentPort, workerData } from "node:worker_threads";
import { SqliteFile, type SqliteResult } from "./sqlite-file.ts";

export interface ToSqlite {
  text: string;
  parameters: readonly unknown[];
  /** Begins a connection's work: checks first that the file is still the one that was opened. */
  isFirst: boolean;
}

/** Answers in the order of the statements. */
export type FromSqlite = { result: SqliteResult } | { message: string; code: unknown };

/** Opened by the first statement; an attempt that failed is repeated by the next. */
let file: SqliteFile | undefined;

function execute({ text, parameters, isFirst }: ToSqlite): SqliteResult {
  if (file === undefined) file = new SqliteFile(workerData);
  else if (isFirst) file.checkIdentity();
  return file.execute(text, parameters);
}

function answerTo(statement: ToSqlite): FromSqlite {
  try {
    return { result: execute(statement) };
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
  file?.close();
  parentPort?.close();
});
