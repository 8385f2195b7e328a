/** Requests as entries of lists and streams. */

import { inDollars } from "../../../kernel/nano-dollars.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { RequestPage } from "../../openapi/request-answers.ts";

export interface ShownRequest {
  id: string;
  /** Time of the end. */
  at: number;
  projectId: string;
  keyId: string;
  operation: string;
  /** As the caller wrote it, truncated. */
  model: string | null;
  answeredBy: string | null;
  deployment: string | null;
  status: number;
  outcome: string | null;
  /** Code or kind of the error; never its message, which may quote the request. */
  error: string | null;
  attempts: number | null;
  queuedMilliseconds: number | null;
  firstTokenMilliseconds: number | null;
  durationMilliseconds: number;
  promptTokens: number | null;
  cachedTokens: number | null;
  completionTokens: number | null;
  characters: number | null;
  audioMilliseconds: number | null;
  costNanoDollars: number | null;
  details: ShownDetails | null;
}

export interface ShownDetails {
  stages?: readonly ShownStage[] | undefined;
  /** Message of the error that the client got, if it was the service's or an upstream's. */
  message?: string | undefined;
  cause?: string | undefined;
  reasoningTokens?: number | undefined;
  /** What the cache did; left out without one. */
  cache?: "hit" | "miss" | "bypass" | undefined;
  costParts?: readonly { unit: string; quantity: number; costNanoDollars: number }[] | undefined;
  reportedCostNanoDollars?: number | undefined;
  comparedCostNanoDollars?: number | undefined;
  serviceTier?: string | undefined;
  endUser?: string | undefined;
  tags?: readonly string[] | undefined;
  /** What the guardrails did, without any content. */
  guardrails?: readonly GuardrailRecord[] | undefined;
}

interface GuardrailRecord {
  type: string;
  stage: "input" | "output";
  outcome: "passed" | "masked" | "blocked" | "reported" | "failed";
  findings: Readonly<Record<string, number>>;
}

export interface ShownStage {
  kind: "load" | "attempt" | "moderation" | "turn" | "tool";
  /** Deployment, or the tool that was called. */
  deployment: string;
  /** Milliseconds since the request's beginning. */
  startMs: number;
  durationMs: number;
  /** Part of the duration that an attempt waited for a slot. */
  queuedMs?: number | undefined;
  /** Code or kind of the error that ended it. */
  error?: string | undefined;
  message?: string | undefined;
  /** Message of an upstream or an engine, for administrators: it may name hosts and files. */
  cause?: string | undefined;
}

/** `showsCauses`: whether the caller may read messages of upstreams and engines, which name hosts and files. */
export function toRequestEntry(
  entry: ShownRequest,
  showsCauses: boolean,
): AnswerOf<typeof RequestPage>["data"][number] {
  const {
    stages = [],
    message,
    cause,
    reasoningTokens,
    cache,
    costParts,
    serviceTier,
    endUser,
    tags,
    guardrails = [],
  } = entry.details ?? {};
  const { reportedCostNanoDollars: reported, comparedCostNanoDollars: compared } = entry.details ?? {};
  const loads = stages.filter(({ kind }) => kind === "load");
  return {
    id: entry.id,
    object: "organization.request" as const,
    /** Time of the end, in Unix seconds with milliseconds. */
    ended_at: entry.at / 1000,
    project_id: entry.projectId,
    api_key_id: entry.keyId,
    operation: entry.operation,
    model: entry.model,
    answered_by: entry.answeredBy,
    deployment: entry.deployment,
    status: entry.status,
    outcome: entry.outcome,
    error: entry.error,
    attempts: entry.attempts,
    queued_ms: entry.queuedMilliseconds,
    first_token_ms: entry.firstTokenMilliseconds,
    duration_ms: entry.durationMilliseconds,
    input_tokens: entry.promptTokens,
    input_cached_tokens: entry.cachedTokens,
    output_tokens: entry.completionTokens,
    characters: entry.characters,
    audio_seconds: entry.audioMilliseconds === null ? null : entry.audioMilliseconds / 1000,
    cost_usd: inDollars(entry.costNanoDollars),
    reasoning_tokens: reasoningTokens ?? null,
    /** Null for a model without a cache. */
    cache: cache ?? null,
    cost_parts:
      costParts?.map(({ unit, quantity, costNanoDollars }) => ({
        unit,
        quantity,
        cost_usd: inDollars(costNanoDollars),
      })) ?? null,
    reported_cost_usd: inDollars(reported) ?? null,
    compared_cost_usd: inDollars(compared) ?? null,
    service_tier: serviceTier ?? null,
    end_user: endUser ?? null,
    tags: [...(tags ?? [])],
    /** Null when the model was loaded. */
    loading_ms: loads.length === 0 ? null : loads.reduce((sum, { durationMs }) => sum + durationMs, 0),
    guardrails: guardrails.map(({ type, stage, outcome, findings }) => ({ type, stage, outcome, findings })),
    error_message: (showsCauses ? cause : undefined) ?? message ?? null,
    stages: stages.map((stage) => ({
      type: stage.kind,
      deployment: stage.deployment,
      start_ms: stage.startMs,
      duration_ms: stage.durationMs,
      queued_ms: stage.queuedMs ?? null,
      error: stage.error ?? null,
      error_message: (showsCauses ? stage.cause : undefined) ?? stage.message ?? null,
    })),
  };
}

/** Renders a server-sent event; without an entry, a comment that keeps the connection open. */
export function toRequestFrame(entry: ShownRequest | undefined, showsCauses: boolean): string {
  return entry === undefined ? ": keep-alive\n\n" : `data: ${JSON.stringify(toRequestEntry(entry, showsCauses))}\n\n`;
}
