/** GET /v1/organization/overview: the last hour, the state of deployments and what was spent. */

import { inDollars } from "../../../kernel/nano-dollars.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { Overview as OverviewAnswer } from "../../openapi/usage-answers.ts";

interface Overview {
  now: number;
  minutes: readonly OverviewMinute[];
  firstTokens: Percentiles;
  /** Generated at present. */
  tokensPerSecond: number;
  /** Null: nothing that was used has a price. */
  spentTodayNanoDollars: number | null;
  spentThisMonthNanoDollars: number | null;
  spendLimits: readonly ShownSpendLimit[];
  deployments: readonly ShownDeployment[] | undefined;
  pools: readonly ShownPool[] | undefined;
}

export interface OverviewMinute {
  beginsAt: number;
  requests: number;
  errors: number;
  retries: number;
  promptTokens: number;
  completionTokens: number;
  firstTokens: Percentiles;
}

/** Milliseconds; null without a time. */
interface Percentiles {
  p50: number | null;
  p95: number | null;
}

export interface ShownSpendLimit {
  scope: "organization" | "project" | "api_key";
  scopeId: string;
  thresholdCents: number;
  isEnforcing: number;
  /** This month; undefined where the key may not see it. */
  spentNanoDollars: number | undefined;
}

export interface ShownDeployment {
  model: string;
  task: string;
  deployment: string;
  engine: string;
  /** Host and port of an upstream. */
  host: string | undefined;
  state: string;
  reason: string | undefined;
  circuit: string;
  device: string | undefined;
  memoryBytes: number | undefined;
  /** Memory of the GPU; undefined for models on the CPU. */
  gpuBytes: number | undefined;
  loadSeconds: number | undefined;
  /** Epoch milliseconds of the last load and of the last restart after a crash. */
  loadedAt: number | undefined;
  restartedAt: number | undefined;
  slots: number;
  slotsInUse: number;
  waiting: number;
  firstTokenSeconds: number | undefined;
}

/** Deployment entry that stands for endpoints which come and go; each of them is a deployment, too. */
interface ShownPool {
  model: string;
  deployment: string;
  source: string;
  endpoints: number;
  state: "up" | "stale" | "empty";
  reason: string | undefined;
}

const MINUTES = 60;

export function toOverview(overview: Overview): AnswerOf<typeof OverviewAnswer> {
  const { now, deployments } = overview;
  const byMinute = new Map(overview.minutes.map((minute) => [minute.beginsAt, minute]));
  const current = Math.floor(now / 60_000) * 60_000;
  return {
    object: "organization.overview" as const,
    /** Oldest first; the last one is the current minute. */
    minutes: Array.from({ length: MINUTES }, (_each, index) => {
      const beginsAt = current - (MINUTES - 1 - index) * 60_000;
      const sum = byMinute.get(beginsAt);
      return {
        start_time: beginsAt / 1000,
        requests: sum?.requests ?? 0,
        errors: sum?.errors ?? 0,
        input_tokens: sum?.promptTokens ?? 0,
        output_tokens: sum?.completionTokens ?? 0,
        retries: sum?.retries ?? 0,
        first_token_ms: sum?.firstTokens ?? percentilesOf([]),
      };
    }),
    first_token_ms: overview.firstTokens,
    output_tokens_per_second: overview.tokensPerSecond,
    spend: {
      today_usd: inDollars(overview.spentTodayNanoDollars ?? 0),
      month_usd: inDollars(overview.spentThisMonthNanoDollars ?? 0),
      today_unpriced: overview.spentTodayNanoDollars === null,
      month_unpriced: overview.spentThisMonthNanoDollars === null,
      limits: overview.spendLimits.map(({ scope, scopeId, thresholdCents, isEnforcing, spentNanoDollars }) => ({
        scope,
        scope_id: scopeId,
        threshold_usd: thresholdCents / 100,
        month_usd: inDollars(spentNanoDollars) ?? null,
        enforced: isEnforcing === 1,
      })),
    },
    /** Null for keys that may not see them. */
    deployments: deployments?.map(toDeployment) ?? null,
    pools: overview.pools?.map(toPool) ?? null,
  };
}

function toDeployment(deployment: ShownDeployment) {
  const { memoryBytes, gpuBytes, loadSeconds, loadedAt, restartedAt, slots, slotsInUse, firstTokenSeconds, ...rest } =
    deployment;
  const { host, reason, device, ...same } = rest;
  return {
    ...same,
    host: host ?? null,
    reason: reason ?? null,
    device: device ?? null,
    loaded_at: loadedAt === undefined ? null : loadedAt / 1000,
    restarted_at: restartedAt === undefined ? null : restartedAt / 1000,
    memory_bytes: memoryBytes ?? null,
    vram_bytes: gpuBytes ?? null,
    load_seconds: loadSeconds ?? null,
    slots: Number.isFinite(slots) ? slots : null,
    slots_in_use: slotsInUse,
    first_token_seconds: firstTokenSeconds ?? null,
  };
}

function toPool({ model, deployment, source, endpoints, state, reason }: ShownPool) {
  return { model, deployment, source, endpoints, state, reason: reason ?? null };
}

/** The middle of some times, and what 95 % of them stay below. */
export function percentilesOf(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) };
}

function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}
