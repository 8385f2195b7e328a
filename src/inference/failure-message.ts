/** Texts of failures for the request history. */

import { Fault } from "../kernel/faults.ts";

const MAX_LENGTH = 300;
/** An upstream may repeat the key that it refuses. */
const KEYS = /\b(sk-|Bearer\s+|key[=:]\s*)[\w.~+/-]{6,}/gi;

/** Message of a Fault that the service or an upstream caused; a caller's own error may quote the request. */
export function faultMessage(failure: unknown): string | undefined {
  if (!(failure instanceof Fault) || failure.kind === "client-left" || isCallers(failure)) return undefined;
  return toRecordedText(failure.message);
}

/** Message of the upstream or engine behind a failure, such as "CUDA out of memory". */
export function causeMessage(failure: unknown): string | undefined {
  if (faultMessage(failure) === undefined) return undefined;
  const { cause } = failure as Fault;
  if (!(cause instanceof Error)) return undefined;
  const { details } = cause as Error & { details?: { message?: unknown } };
  return toRecordedText(typeof details?.message === "string" ? details.message : cause.message);
}

/** Code or kind of a failure. */
export function failureCode(failure: unknown): string {
  return failure instanceof Fault ? (failure.code ?? failure.kind) : "internal_error";
}

const SERVICES: ReadonlySet<string> = new Set([
  "unavailable",
  "upstream-failed",
  "upstream-refused",
  "upstream-timeout",
  "answer-unfit",
]);

function isCallers({ kind, code }: Fault): boolean {
  // A limit of an upstream, not of the caller.
  return !SERVICES.has(kind) && !(kind === "request-rate-limited" && code === "rate_limit_exceeded");
}

/** Shortens a text, and leaves out keys. */
export function toRecordedText(text: string): string {
  // PostgreSQL refuses text with NUL (SQLSTATE 22021).
  const clean = text.replaceAll("\0", "").replace(KEYS, "$1…");
  return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH - 1)}…` : clean;
}
