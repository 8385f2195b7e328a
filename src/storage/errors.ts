/** Classifies what the databases throw, by SQLSTATE or SQLite result code. */

import { Fault } from "../kernel/faults.ts";

/** serialization_failure, deadlock_detected. */
const RETRYABLE_SQLSTATES: ReadonlySet<unknown> = new Set(["40001", "40P01"]);

/** Class 22: data exceptions. Class 23: integrity constraint violations. */
const CONSTRAINT_SQLSTATES = /^2[23]...$/;
const CONSTRAINT_SQLITE_CODES = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/;

/**
 * Class 08: connection exceptions; 28: invalid authorization; 3D000: invalid_catalog_name; 53: insufficient resources;
 * 57P01 to 57P05: shutdown and dropped sessions; 57014: query_canceled; 25006: read_only_sql_transaction.
 */
const CONNECTION_SQLSTATES = /^(08...|28...|3D000|53...|57P0[1-5]|57014|25006)$/;
const CONNECTION_SQLITE_CODES = /^SQLITE_(BUSY|LOCKED|CANTOPEN|IOERR|FULL|READONLY|CORRUPT|NOTADB|PERM|AUTH)/;
const SYSTEM_CODES = /^(E[A-Z]+)$/;
/** Error codes of Node.js and OpenSSL for a certificate that is not trusted. */
const TLS_CODES = /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
/** `pg` gives these errors no code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has)/;

/** True for deadlocks and serialization failures (40P01, 40001), which are safe to retry. */
export function isRetryableTransaction(error: unknown): boolean {
  return error instanceof Error && "code" in error && RETRYABLE_SQLSTATES.has(error.code);
}

/** True when a statement waited longer for a lock than `lock_timeout` (55P03). */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** True when another connection to SQLite's file held its lock for longer than a statement waits. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") === true;
}

/** True for a value that the database can never store: retrying does not help. */
export function isConstraintViolation(error: unknown): boolean {
  const code = codeOf(error instanceof Fault ? error.cause : error);
  return code !== undefined && (CONSTRAINT_SQLSTATES.test(code) || CONSTRAINT_SQLITE_CODES.test(code));
}

/** True for text with a NUL character, which PostgreSQL cannot store (22021: character_not_in_repertoire). */
export function isUnstorableText(error: unknown): boolean {
  return codeOf(error) === "22021";
}

/** True when the database cannot be reached or cannot be used, false for a bug in a query. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  const code = codeOf(error);
  if (code === undefined) return CONNECTION_MESSAGES.test(error.message);
  return [CONNECTION_SQLSTATES, CONNECTION_SQLITE_CODES, SYSTEM_CODES, TLS_CODES].some((pattern) => pattern.test(code));
}

/** SQLSTATE 53100: disk_full. */
const DISK_FULL_CODES: ReadonlySet<unknown> = new Set(["SQLITE_FULL", "ENOSPC", "53100"]);

export function isDiskFull(error: unknown): boolean {
  return DISK_FULL_CODES.has(codeOf(error));
}

/** Thrown when SQLite's file was removed or replaced, which SQLite itself does not detect in WAL mode. */
export class FileReplacedError extends Error {
  /** SQLite's own extended result code for it. */
  readonly code = "SQLITE_READONLY_DBMOVED";
}

export function isFileReplaced(error: unknown): boolean {
  return error instanceof FileReplacedError;
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && code !== "" ? code : undefined;
}
