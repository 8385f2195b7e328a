/** Collects a request's log line, which never contains a prompt, a key or an upstream's secret. */

import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import type { GuardrailReport } from "../inference/guardrails/guardrail-report.ts";
import type { CountedRequest } from "../inference/quota.ts";
import type { RequestRecording } from "../inference/recording/request-recording.ts";
import type { Settlement } from "../inference/settlement.ts";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { RequestMeasure } from "../observability/metrics.ts";
import { type AnsweredRequest, toHistoryEntry, toMilliseconds } from "./history-entry.ts";
import type { RequestEntry } from "./request-entry.ts";
import { SERVICE_HEADERS } from "./service-headers.ts";
import { withoutValues } from "./without-values.ts";

interface RequestRecord {
  beganAt: number;
  /** Requested model as the caller wrote it; the log truncates it. */
  model: string | undefined;
  /** The request, if it counts before its run; undefined: the run counts it. */
  counted: CountedRequest | undefined;
  /** Outcome of the inference, once it is over. */
  settlement: (() => Settlement | undefined) | undefined;
  failure: unknown;
  /** Whether the connection became a WebSocket, whose end is not that of an answer. */
  isUpgraded: boolean;
  /** Whether another process answers, logs and counts it. */
  isPassedOn: boolean;
  /** What the guardrails of the request did; undefined without any. */
  guardrails: GuardrailReport | undefined;
  /** Content of the request; undefined where nothing is recorded. */
  recording: RequestRecording | undefined;
  /** Fields of the body that had no effect. */
  ignoredFields: readonly string[];
  /** Callbacks for a client that disconnects before its answer was sent completely. */
  leaving: (() => void)[];
}

export interface OpenRequests {
  /** Requests whose answers are not yet sent completely. */
  open: number;
}

declare module "fastify" {
  interface FastifyRequest {
    record: RequestRecord;
    /** Records why the request failed; logs a bug with its stack under the request's ID. */
    reportFailure(failure: unknown): void;
  }
}

export interface EndedRequest {
  entry: RequestEntry;
  caller: Caller;
  recording: RequestRecording | undefined;
  /** Body as it was parsed. */
  body: unknown;
}

export interface RequestLogOptions {
  logger: Logger;
  measure: (request: RequestMeasure) => void;
  /** Called with the metadata of each request that a project's key made of a model. */
  recordRequest: (entry: RequestEntry) => void;
  /** Called with the same entry and the content of a request that is recorded, or that failed before it asked a model. */
  recordContent?: ((request: EndedRequest) => void) | undefined;
  /** Returns the catalog ID for a requested ID; undefined when it does not exist. */
  catalogIdOf: (id: string | undefined) => string | undefined;
}

export function useRequestLog(app: FastifyInstance, options: RequestLogOptions): OpenRequests {
  const { logger, measure, recordRequest, recordContent, catalogIdOf } = options;
  const records = { open: 0 };
  app.decorateRequest("record");
  app.decorateRequest("reportFailure", function (this: FastifyRequest, failure: unknown) {
    this.record.failure = failure;
    if (failure instanceof Fault) return;
    const { traceId, spanId } = this.span ?? {};
    logger.error({ requestId: this.id, traceId, spanId, err: failure }, "request failed by a bug");
  });

  app.addHook("onRequest", (request, reply, done) => {
    const record: RequestRecord = {
      beganAt: performance.now(),
      model: undefined,
      counted: undefined,
      settlement: undefined,
      failure: undefined,
      isUpgraded: false,
      isPassedOn: false,
      guardrails: undefined,
      recording: undefined,
      ignoredFields: [],
      leaving: [],
    };
    request.record = record;
    records.open += 1;
    reply.header("x-request-id", request.id).headers(SERVICE_HEADERS);
    // Not Fastify's onResponse, which disconnected clients never trigger.
    reply.raw.on("close", () => {
      records.open -= 1;
      if (record.isPassedOn) return;
      if (!isAnswered(request, reply)) for (const leave of record.leaving) leave();
      logRequest(request, reply);
    });
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    const guardrails = request.record.guardrails?.toHeader();
    if (guardrails !== undefined) reply.header("x-parlance-guardrails", guardrails);
    reply.header("openai-processing-ms", Math.round(performance.now() - request.record.beganAt));
    // Sends together with the other answers of this turn of the event loop: each write may wake a client on the same
    // machine, which costs an eighth of an answer's time unless another write has just woken it. A single answer is
    // sent at once.
    if (records.open === 1) done();
    else if (ready.push(done) === 1) setImmediate(sendReady);
  });

  return records;

  function logRequest(request: FastifyRequest, reply: FastifyReply): void {
    if (!isLogged(request.url)) return;
    const settlement = request.record.settlement?.();
    const line = toLine(request, reply, settlement);
    const operation = operationOf(request);
    logger.info(line);
    measure({
      operation,
      model: settlement?.catalogId ?? catalogIdOf(request.record.model) ?? "",
      status: line.status,
      durationSeconds: line.durationMs / 1000,
      ignoredFields: request.record.ignoredFields.length,
    });
    if (request.method === "POST") {
      const entry = toHistoryEntry(toAnswered(request, line, settlement));
      if (entry === undefined) return;
      recordRequest(entry);
      const { caller, body } = request;
      const { recording } = request.record;
      if (recording !== undefined || entry.status >= 400) recordContent?.({ entry, caller, recording, body });
    }
  }
}

/** Whether requests of a path are in the log and the history. Health checks and metrics scrapes would fill the log. */
export function isLogged(url: string): boolean {
  return /^\/(v1(?:beta)?\/|v2\/|api\/|mcp([/?]|$))/.test(url);
}

/** Answers to send at the end of this turn of the event loop. */
let ready: HookHandlerDoneFunction[] = [];

function sendReady(): void {
  const all = ready;
  ready = [];
  for (const send of all) sendNow(send);
}

/** Sends an answer and turns an exception into a 500: outside a request's handler, nothing else catches it. */
function sendNow(send: HookHandlerDoneFunction): void {
  try {
    send();
  } catch (failure) {
    send(failure as Error);
  }
}

/** Returns the route's pattern, because a label per unknown path would be unbounded. */
function operationOf({ routeOptions: { url, config } }: FastifyRequest): string {
  const path = url
    ?.replace(/^\/(v1\/)?/, "")
    .replace("/*", "")
    .replace(/^mcp\/:server$/, "mcp");
  if (path === undefined) return "unknown";
  const { customMethod } = config.operation ?? {};
  return customMethod === undefined ? path : `${path}:${customMethod}`;
}

function toLine(request: FastifyRequest, reply: FastifyReply, settlement: Settlement | undefined) {
  const { record } = request;
  const hasLeft = (!isAnswered(request, reply) && !record.isUpgraded) || settlement?.outcome === "client-left";
  return {
    requestId: request.id,
    traceId: request.span?.traceId,
    spanId: request.span?.spanId,
    clientRequestId: header(request, "x-client-request-id"),
    method: request.method,
    path: request.url.split("?", 1)[0]?.slice(0, 200),
    status: record.isUpgraded ? 101 : hasLeft ? 499 : reply.statusCode,
    keyId: request.caller?.keyId,
    projectId: request.caller?.projectId,
    model: record.model?.slice(0, 200),
    answeredBy: settlement?.model,
    deployment: settlement?.deployment,
    attempts: settlement?.attempts,
    queuedMs: toMilliseconds(settlement?.queuedSeconds),
    outcome: settlement?.outcome,
    cache: settlement?.cache,
    fault:
      record.failure instanceof Fault ? withoutValues(`${record.failure.kind}: ${record.failure.message}`) : undefined,
    ignoredFields:
      record.ignoredFields.length === 0 ? undefined : record.ignoredFields.slice(0, 20).join(", ").slice(0, 300),
    durationMs: Math.round(performance.now() - record.beganAt),
    firstTokenMs: toMilliseconds(settlement?.firstTokenSeconds),
    promptTokens: settlement?.used.promptTokens,
    completionTokens: settlement?.used.completionTokens,
    msg: "request",
  };
}

/** Whether the answer was sent completely. A request of the service itself has no connection to flush. */
function isAnswered({ internalCall }: FastifyRequest, { raw }: FastifyReply): boolean {
  return raw.writableFinished || (internalCall !== undefined && raw.writableEnded);
}

/** Returns the entry of a request whose answer is complete but not sent; undefined for one outside a project. */
export function entryOfAnswered(request: FastifyRequest, reply: FastifyReply): RequestEntry | undefined {
  const settlement = request.record.settlement?.();
  return toHistoryEntry({ ...toAnswered(request, toLine(request, reply, settlement), settlement), status: 200 });
}

function toAnswered(
  request: FastifyRequest,
  { status, durationMs }: ReturnType<typeof toLine>,
  settlement: Settlement | undefined,
): AnsweredRequest {
  const { id, caller, record } = request;
  const { model, beganAt, failure, guardrails } = record;
  const operation = operationOf(request);
  return { id, caller, operation, model, status, beganAt, durationMs, failure, guardrails, settlement };
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value.slice(0, 200) : undefined;
}
