/** What is recorded of a request that was loaded for, repeated, cached, labelled, failed, or charged for uncommon units. */

import type { CostPart } from "../catalog/prices/cost.ts";
import type { GuardrailRecord } from "../inference/guardrails/guardrail-report.ts";
import type { Stage } from "../inference/stages.ts";

/** Time that a request spent on something beside its answer. */
interface RequestStage {
  kind: Stage["kind"];
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

export interface RequestDetails {
  stages?: readonly RequestStage[] | undefined;
  /** Message of the error that the client got, if it was the service's or an upstream's. */
  message?: string | undefined;
  cause?: string | undefined;
  reasoningTokens?: number | undefined;
  /** What the cache did; left out without one. */
  cache?: "hit" | "miss" | "bypass" | undefined;
  /** Parts of the cost of a request with more than prompt, cached and completion tokens. */
  costParts?: readonly CostPart[] | undefined;
  reportedCostNanoDollars?: number | undefined;
  comparedCostNanoDollars?: number | undefined;
  serviceTier?: string | undefined;
  endUser?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Version of a stored prompt. */
  prompt?: string | undefined;
  /** What the guardrails did, without any content. */
  guardrails?: readonly GuardrailRecord[] | undefined;
}

export function parseRequestDetails(json: string | null): RequestDetails | null {
  return json === null ? null : (JSON.parse(json) as RequestDetails);
}
