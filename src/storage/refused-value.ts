/** Tells a value that the database can never take from everything else that may go wrong. */

/** Data exceptions (22), integrity constraints (23). */
const POSTGRESQL_CODES = /^2[23]...$/;
const SQLITE_CODES = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/;

export function isRefusedValue(error: unknown): boolean {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && (POSTGRESQL_CODES.test(code) || SQLITE_CODES.test(code));
}
