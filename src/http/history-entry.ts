/** Entries of the request history. */

import type { Caller } from "../contracts/caller.ts";
import { causeMessage, failureCode, faultMessage } from "../inference/failure-message.ts";
import type { GuardrailReport } from "../inference/guardrails/guardrail-report.ts";
import type { Settlement } from "../inference/settlement.ts";
import type { RequestDetails } from "./request-details.ts";
import type { RequestEntry } from "./request-entry.ts";

export interface AnsweredRequest {
  id: string;
  caller: Caller | undefined;
  /** Path of its route. */
  operation: string;
  /** As the caller wrote it. */
  model: string | undefined;
  status: number;
  /** Milliseconds of `performance.now()`. */
  beganAt: number;
  durationMs: number;
  failure: unknown;
  guardrails: GuardrailReport | undefined;
  /** Undefined: no model was asked. */
  settlement: Settlement | undefined;
}

/** A loaded model takes a moment to say so. */
const MIN_LOAD_MS = 20;
/** A request may ask dozens of endpoints. */
const MAX_STAGES = 20;
const MAX_MODEL = 200;

/** Undefined for a request outside a project. */
export function toHistoryEntry(request: AnsweredRequest): RequestEntry | undefined {
  const { id, caller, operation, model, status, durationMs, failure, settlement } = request;
  if (caller?.projectId === undefined) return undefined;
  const used = settlement?.model === undefined ? undefined : settlement.used;
  return {
    id,
    at: Date.now(),
    organizationId: caller.organizationId,
    projectId: caller.projectId,
    keyId: caller.keyId,
    operation,
    // PostgreSQL refuses text with NUL (SQLSTATE 22021).
    model: model?.slice(0, MAX_MODEL).replaceAll("\0", "") ?? null,
    answeredBy: settlement?.model ?? null,
    deployment: settlement?.deploymentEntry ?? null,
    status,
    outcome: settlement?.outcome ?? null,
    error: failure === undefined ? null : failureCode(failure),
    attempts: settlement?.attempts ?? null,
    queuedMilliseconds: toMilliseconds(settlement?.queuedSeconds) ?? null,
    firstTokenMilliseconds: toMilliseconds(settlement?.firstTokenSeconds) ?? null,
    durationMilliseconds: durationMs,
    promptTokens: used?.promptTokens ?? null,
    cachedTokens: used?.cachedTokens ?? null,
    completionTokens: used?.completionTokens ?? null,
    characters: used?.characters ?? null,
    audioMilliseconds: used === undefined ? null : Math.round(used.audioSeconds * 1000),
    costNanoDollars: settlement?.costNanoDollars ?? null,
    details: detailsOf(request),
  };
}

/** Null for a request that was answered by the first attempt at a loaded model without a cache or guardrails. */
function detailsOf({ beganAt, failure, guardrails, settlement }: AnsweredRequest): RequestDetails | null {
  const stages = (settlement?.stages ?? []).filter(
    ({ kind, durationMs }) => kind !== "load" || durationMs >= MIN_LOAD_MS,
  );
  const message = failure === undefined ? undefined : faultMessage(failure);
  const reasoningTokens = settlement?.used.reasoningTokens || undefined;
  const cache = settlement?.cache;
  const usage = settlement?.used.details;
  const labels = settlement?.caller.labels;
  const records = guardrails?.records ?? [];
  const isPlain = stages.length + records.length === 0 && message === undefined && reasoningTokens === undefined;
  const { costParts } = settlement ?? {};
  const hasDetails = cache !== undefined || usage !== undefined || labels !== undefined || costParts !== undefined;
  if (isPlain && !hasDetails) return null;
  return {
    stages: stages.slice(-MAX_STAGES).map((stage) => ({
      kind: stage.kind,
      deployment: stage.deployment,
      startMs: Math.max(0, Math.round(stage.beganAt - beganAt)),
      durationMs: Math.round(stage.durationMs),
      queuedMs: stage.queuedMs === undefined ? undefined : Math.round(stage.queuedMs),
      error: stage.failure === undefined ? undefined : failureCode(stage.failure),
      message: faultMessage(stage.failure),
      cause: causeMessage(stage.failure),
    })),
    message,
    cause: causeMessage(failure),
    reasoningTokens,
    cache,
    costParts,
    reportedCostNanoDollars: usage?.reportedCostNanoDollars,
    comparedCostNanoDollars: settlement?.comparedCostNanoDollars ?? undefined,
    serviceTier: usage?.serviceTier,
    endUser: labels?.endUser,
    tags: labels?.tags,
    prompt: labels?.prompt,
    guardrails: records.length === 0 ? undefined : records,
  };
}

export function toMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
