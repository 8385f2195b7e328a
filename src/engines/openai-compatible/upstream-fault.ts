/** Maps upstream failures to Faults that name the deployment, never the upstream's address or key. */

import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault, type FaultKind, unavailable } from "../../kernel/faults.ts";
import { errors } from "../../kernel/outgoing/undici.ts";
import { EventTooLongError } from "../../kernel/server-sent-events.ts";
import { ResponseTooLongError, UpstreamTimeoutError } from "./connection/exchange.ts";
import { type Redact, renameModel } from "./connection/redact.ts";
import { MissingFeatureError, missingFeatureFault, missingOperation } from "./missing-features.ts";
import { UpstreamError, type UpstreamErrorDetails } from "./upstream-error.ts";

const MAX_MESSAGE_LENGTH = 2000;

/** This process or machine has no descriptor, memory or port left for a connection. */
const OWN_LIMITS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL"]);

/** Names for the messages of Faults. */
export interface FaultContext {
  /** The deployment's name. */
  deployment: string;
  /** The requested catalog ID. */
  model: string;
  /** Model name sent to the upstream. */
  upstreamModel: string;
  redact: Redact;
  /** Path of the request, such as `chat/completions`; undefined for paths of another API. */
  operation?: string | undefined;
}

/** Fault for an answer whose status is not 200; `error` is parsed from its body. */
export function errorResponseFault(
  status: number,
  error: UpstreamError | undefined,
  retryAfterSeconds: number | undefined,
  context: FaultContext,
): Fault {
  const details = error?.details ?? {};
  if (status === 429 && asksTooMuch(details.message)) {
    return new Fault("token-rate-limited", callerMessage(details, status, context), {
      code: "rate_limit_exceeded",
      isFinal: true,
      cause: error,
    });
  }
  if (status === 429) {
    return new Fault(
      "request-rate-limited",
      `The upstream of \`${context.deployment}\` takes no more requests for now.`,
      {
        code: "rate_limit_exceeded",
        retryAfterSeconds,
        cause: error,
      },
    );
  }
  if (status === 408 || status === 504) {
    return new Fault("upstream-timeout", `The upstream of \`${context.deployment}\` ran out of time.`, {
      code: "upstream_timeout",
      retryAfterSeconds,
      cause: error,
    });
  }
  const feature = missingOperation(context.operation ?? "", status, error);
  if (feature !== undefined) return missingFeatureFault(context.deployment, feature, new MissingFeatureError(feature));
  const kind = callerFaultKind(status, error);
  if (kind !== undefined) {
    return new Fault(kind, callerMessage(details, status, context), { param: details.param, code: details.code });
  }
  return new Fault(failureKind(status), `The upstream of \`${context.deployment}\` ${problemOf(status)}.`, {
    code: "upstream_error",
    retryAfterSeconds,
    cause: error,
  });
}

/** The Fault for an answer that broke, never came, or holds something other than an answer. */
export function brokenFault(error: unknown, context: FaultContext): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof MissingFeatureError) return missingFeatureFault(context.deployment, error.feature, error);
  if (error instanceof UpstreamError && error.details.status !== undefined) {
    return errorResponseFault(error.details.status, error, undefined, context);
  }
  const upstream = `The upstream of \`${context.deployment}\``;
  if (OWN_LIMITS.has(codeOf(error))) {
    return unavailable("Too many connections are open here. Try again in a moment.", "server_is_overloaded", 1, error);
  }
  if (error instanceof UpstreamTimeoutError) {
    return timeoutFault(`${upstream} sent ${error.message}.`, error);
  }
  // undici counts the headers of a proxy's tunnel only.
  const isConnecting = error instanceof errors.ConnectTimeoutError || error instanceof errors.HeadersTimeoutError;
  if (isConnecting || codeOf(error) === "ETIMEDOUT") {
    return timeoutFault(`${upstream} could not be connected to in time.`, error);
  }
  if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError) {
    return closedFault(context.deployment);
  }
  const kind = dependsOnRequest(error) ? "answer-unfit" : "upstream-failed";
  return new Fault(kind, `${upstream} ${brokenProblem(error)}.`, { code: "upstream_error", cause: error });
}

/** Whether an answer is too long for this request, or does not match it. */
function dependsOnRequest(error: unknown): boolean {
  if (error instanceof ResponseTooLongError || error instanceof EventTooLongError) return true;
  return error instanceof UpstreamError && error.details.dependsOnRequest === true;
}

/** Fault of a request to a deployment that has been closed. */
export function closedFault(deployment: string): Fault {
  return unavailable(`\`${deployment}\` has been closed.`, "engine_failed", 1);
}

function timeoutFault(message: string, cause: unknown): Fault {
  return new Fault("upstream-timeout", message, { code: "upstream_timeout", cause });
}

/**
 * Whether a limit would refuse the request at any time, as OpenAI, Azure, Groq and this service say it: "Request too
 * large for gpt-4o: Limit 30000, Requested 128000." Where others have used the limit up, `Requested` is not above it.
 */
function asksTooMuch(message = ""): boolean {
  const [, limit, requested] = /\bLimit:? (\d+)\b.{0,200}\bRequested:? (\d+)\b/s.exec(message) ?? [];
  return limit !== undefined && Number(requested) > Number(limit);
}

/**
 * Statuses that the request itself caused. A 404 without an error object comes from a wrong base_url rather than from a
 * wrong model, which the operator has to fix.
 */
function callerFaultKind(status: number, error: UpstreamError | undefined): FaultKind | undefined {
  if (status === 400 || status === 422) return "invalid-request";
  if (status === 413) return "body-too-large";
  if (status === 404 && error?.details.code !== undefined) return "not-found";
  if (status === 404 && /model/i.test(error?.details.message ?? "")) return "not-found";
  return undefined;
}

/** Every request has a wrong key, redirect or path. Other statuses below 500, such as 403, may concern this one alone. */
function failureKind(status: number): FaultKind {
  if (status === 401) return "upstream-refused";
  return status > 401 && status < 500 && status !== 404 ? "answer-unfit" : "upstream-failed";
}

function callerMessage(details: UpstreamErrorDetails, status: number, context: FaultContext): string {
  const { message } = details;
  if (message === undefined)
    return `The upstream of \`${context.deployment}\` refused the request with status ${status}.`;
  const redacted = context.redact(message).slice(0, MAX_MESSAGE_LENGTH);
  return renameModel(redacted, context.upstreamModel, context.model);
}

function problemOf(status: number): string {
  if (status === 401 || status === 403) return "refused the deployment's key";
  if (status === 402) return "requires a payment (status 402)";
  if (status >= 300 && status < 400) return `answered with a redirect (status ${status}), which is not followed`;
  return `failed with status ${status}`;
}

function brokenProblem(error: unknown): string {
  if (error instanceof UpstreamError) return error.problem;
  if (error instanceof ResponseTooLongError) return `sent more than is read: ${error.message}`;
  if (error instanceof EventTooLongError) return `sent more than is read: ${error.message}`;
  const code = codeOf(error);
  switch (code) {
    case "ECONNREFUSED":
      return "refused the connection";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "could not be found: its host name does not resolve";
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return "cannot be reached";
    default:
      if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) {
        return "could not be trusted: the TLS handshake failed";
      }
      if (/^Z_|^ERR_ZSTD|^ERR_BROTLI|^ERR__ERROR/.test(code)) return "sent an answer that cannot be decompressed";
      return "broke the connection before its answer was complete";
  }
}

function codeOf(error: unknown): string {
  const { code, cause, errors: several } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  const inner = cause ?? several?.[0];
  return inner === undefined ? "" : codeOf(inner);
}

/** Longer waits are mistakes, or not even safe integers. */
const MAX_RETRY_AFTER_SECONDS = DAY_SECONDS;

/** Seconds that `retry-after` (seconds or a date) or `retry-after-ms` asks for, at least 1 and at most a day. */
export function retryAfterSeconds(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"]);
  if (milliseconds > 0) return toWait(milliseconds / 1000);
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  // Some upstreams count with a fraction, which the standard does not know.
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : toWait(seconds);
}

function toWait(seconds: number): number {
  return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(seconds)));
}
