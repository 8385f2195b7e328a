/** Expected failures. One table in `wire/openai/error.ts` maps each kind to HTTP. */

import type { TokenUsage } from "./usage.ts";

export type FaultKind =
  | "invalid-request"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  /** The resource has changed since the version that the request names (RFC 9110, section 13.1.1). */
  | "precondition-failed"
  | "request-too-slow"
  | "expectation-failed"
  | "body-too-large"
  | "headers-too-large"
  | "unsupported-media-type"
  | "request-rate-limited"
  | "token-rate-limited"
  | "quota-exhausted"
  | "unavailable"
  | "upstream-failed"
  /** An upstream rejects its configuration, such as its key: retrying does not help. */
  | "upstream-refused"
  /** A healthy upstream refused this request, or gave an answer that it does not allow. */
  | "answer-unfit"
  /** A deployment lacks a feature that the request needs; another one may have it. */
  | "unsupported"
  | "upstream-timeout"
  /** The client disconnected; logs and metrics still distinguish it from a success. */
  | "client-left";

/** Remaining requests and tokens; undefined where unlimited. */
export interface RateLimitStatus {
  requests?: LimitLeft;
  tokens?: LimitLeft;
}

interface LimitLeft {
  limit: number;
  remaining: number;
  /** Seconds until the limit is full again. */
  resetSeconds: number;
}

export interface FaultDetails {
  /** Stable identifier for programs, such as `model_not_found`. */
  code?: string | undefined;
  /** Path of the invalid field, such as `messages[0].role`. */
  param?: string | undefined;
  /** Seconds after which a retry may succeed. */
  retryAfterSeconds?: number | undefined;
  /** True if retrying does not help, although it does for other failures of the same kind. */
  isFinal?: boolean | undefined;
  /** Limits that applied to the request. */
  limits?: RateLimitStatus | undefined;
  /** Usage of the failed attempt, if known. */
  used?: TokenUsage | undefined;
  /** For the log only; never shown to the caller. */
  cause?: unknown;
}

/** An expected failure whose message is safe to show the caller. Anything else thrown is a bug and becomes a 500. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly kind: FaultKind;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isFinal: boolean;
  readonly limits: RateLimitStatus | undefined;
  readonly used: TokenUsage | undefined;

  constructor(kind: FaultKind, message: string, details: FaultDetails = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.code = details.code;
    this.param = details.param;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.isFinal = details.isFinal === true;
    this.limits = details.limits;
    this.used = details.used;
  }
}

/** Returns a copy of the failure with the limits of this request; several requests may share one failure. */
export function withLimits(failure: unknown, limits: RateLimitStatus): unknown {
  const isLimited = limits.requests !== undefined || limits.tokens !== undefined;
  if (!(failure instanceof Fault) || !isLimited || failure.limits !== undefined) return failure;
  const copy = new Fault(failure.kind, failure.message, { ...failure, cause: failure.cause, limits });
  copy.stack = failure.stack;
  return copy;
}

/** The caller sent something wrong: `param` names the field, the message its bound. */
export function invalidRequest(message: string, param?: string, code?: string): Fault {
  return new Fault("invalid-request", message, { param, code });
}

/** A field or value that is valid but that this model or version does not support. */
export function unsupportedValue(message: string, param: string): Fault {
  return new Fault("invalid-request", message, { param, code: "unsupported_value" });
}

/** `similar`: a name that the caller may have meant. */
export function modelNotFound(id: string, similar?: string): Fault {
  // A body may hold a name of megabytes.
  const name = id.length <= 200 ? id : `${id.slice(0, 200)}…`;
  const meant = similar === undefined ? "" : ` Did you mean \`${similar}\`?`;
  const message = `The model \`${name}\` does not exist or you do not have access to it.${meant} GET /v1/models lists your models.`;
  return new Fault("not-found", message, { param: "model", code: "model_not_found" });
}

export type UnavailableCode =
  | "server_is_overloaded"
  | "model_loading"
  | "engine_failed"
  | "insufficient_memory"
  | "database_unavailable"
  | "no_endpoints";

/** A temporary failure: the caller may retry after `retryAfterSeconds`, at least 1. */
export function unavailable(message: string, code: UnavailableCode, retryAfterSeconds: number, cause?: unknown): Fault {
  return new Fault("unavailable", message, {
    code,
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
    cause,
  });
}
