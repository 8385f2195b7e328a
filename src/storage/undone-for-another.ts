/** Tells a transaction that was undone whole because another one waited for it, and it for the other, from a bug. */

/** Serialization failure, deadlock. */
const POSTGRESQL_CODES: ReadonlySet<unknown> = new Set(["40001", "40P01"]);

export function isUndoneForAnother(error: unknown): boolean {
  return error instanceof Error && "code" in error && POSTGRESQL_CODES.has(error.code);
}
