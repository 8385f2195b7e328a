/** Tells a database that is away from a bug in a query. */

/** Connection exceptions (08), invalid authorization (28), no such database, no resources (53), shutting down (57). */
const POSTGRESQL_CODES = /^(08...|28...|3D000|53...|57P0[1-5]|57014|25006)$/;
const SQLITE_CODES = /^SQLITE_(BUSY|LOCKED|CANTOPEN|IOERR|FULL|READONLY|CORRUPT|NOTADB|PERM|AUTH)/;
const SYSTEM_CODES = /^(E[A-Z]+)$/;
/** `pg` gives these no code. */
const MESSAGES = /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has)/;

export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  const code: unknown = "code" in error ? error.code : undefined;
  if (typeof code === "string" && code !== "") {
    return [POSTGRESQL_CODES, SQLITE_CODES, SYSTEM_CODES].some((pattern) => pattern.test(code));
  }
  return MESSAGES.test(error.message);
}

/** Whether the file that is used from now on is another one. */
export function isMoved(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SQLITE_READONLY_DBMOVED";
}
