/** Connects inference with quota, usage and metrics: the same in the service's process and in its workers. */

import type { Catalog } from "../catalog/catalog.ts";
import type { UpstreamModels } from "../catalog/upstream-models.ts";
import type { Config } from "../config/config.ts";
import type { Caller } from "../contracts/caller.ts";
import type { Counters } from "../counters/counters.ts";
import type { Callers } from "../features/accounts/callers.ts";
import { mayRecord, mayStore } from "../features/accounts/policies/data-retention-policy.ts";
import { isBudgeted, type SpendBoundSources, spendBounds } from "../features/budgets/spend-bounds.ts";
import { CompletionEstimates } from "../features/quota/completion-estimates.ts";
import { limitedScopes } from "../features/quota/limited-scopes.ts";
import { RateLimits } from "../features/quota/rate-limits.ts";
import { combineQuotas, SpendLimits, type SpendLimitsOptions } from "../features/quota/spend-limits.ts";
import { checkForwardedTools } from "../features/tools/hosted-tool-policy.ts";
import { LabelLimits } from "../features/usage/label-limits.ts";
import { toLabels, toToolLabels, toToolRecord, toUsageRecord } from "../features/usage/to-usage-record.ts";
import type { UsageLabel, UsageRecord } from "../features/usage/usage-batch.ts";
import type { EndedRequest } from "../http/request-log.ts";
import type { AnswerCache } from "../inference/cache/answer-cache.ts";
import { Inference, type InferenceOptions } from "../inference/inference.ts";
import { Router } from "../inference/routing/router.ts";
import type { Logger } from "../kernel/logger.ts";
import type { GenAiMetrics } from "../observability/gen-ai-metrics.ts";
import type { Metrics } from "../observability/metrics.ts";
import { recordMirrored } from "./record-mirrored.ts";

export type LiveSettings = Pick<Config, "limits" | "guardrails" | "prices">;

export interface InferenceParts extends Pick<SpendLimitsOptions, "spentIn" | "onSpent"> {
  config: Pick<Config, "usage"> & { server: Pick<Config["server"], "requestTimeoutSeconds"> };
  /** Settings that can change while the service runs. */
  settings: () => LiveSettings;
  catalog: Catalog;
  upstreamModels: UpstreamModels;
  counters: Counters;
  callers: Callers;
  metrics: Metrics;
  /** Undefined: not exported over OTLP. */
  genAi: GenAiMetrics | undefined;
  /** Undefined in workers, which serve no model with a cache. */
  answerCache?: AnswerCache | undefined;
  recordUsage: (record: UsageRecord) => void;
  /** Called with each mirrored chat of a project. */
  recordMirrored: (request: EndedRequest) => void;
  guardrailServices: InferenceOptions["guardrailServices"];
  onGuarded?: InferenceOptions["onGuarded"];
  logger: Logger;
}

export function openInference({
  config,
  settings,
  counters,
  callers,
  metrics,
  logger,
  ...parts
}: InferenceParts): Inference {
  const scopesOf = derived(
    () => settings().limits,
    (limits) => limitedScopes(limits, (caller) => callers.policyOf(caller, "rateLimits")),
  );
  const { requestTimeoutSeconds } = config.server;
  const estimates = new CompletionEstimates();
  const { tools, maxValues } = config.usage.labels;
  const labelLimits = new LabelLimits(maxValues);
  const record = (usage: UsageRecord, caller: Caller, labels: readonly UsageLabel[] | undefined) => {
    if (labels === undefined) return parts.recordUsage(usage);
    const budgets = callers.policyOf(caller, "budgets");
    const bounded = labels.map((label) =>
      isBudgeted(budgets, label) ? label : labelLimits.bound(usage.projectId, label, usage.at),
    );
    parts.recordUsage({ ...usage, labels: bounded });
  };
  const boundSources: SpendBoundSources = {
    spendLimitsOf: (caller) => callers.policyOf(caller, "spendLimits"),
    budgetsOf: (caller) => callers.policyOf(caller, "budgets"),
    summedLabel: (projectId, label, at) => labelLimits.bound(projectId, label, at),
  };
  return new Inference({
    catalog: parts.catalog,
    upstreamModels: parts.upstreamModels,
    router: new Router({
      find: (id) => parts.catalog.findFallback(id),
      onAttempt: (attempt) => metrics.attempt(attempt),
      onPrefixRouted: (model, outcome) => metrics.prefixRouted(model, outcome),
    }),
    quota: combineQuotas(
      new SpendLimits({
        counters,
        boundsOf: (caller, startedAt) => spendBounds(boundSources, caller, startedAt),
        spentIn: parts.spentIn,
        onSpent: (spent) => parts.onSpent?.(spent),
        estimates,
        logger,
        onRefused: (model) => metrics.refusal(model, "spend"),
      }),
      new RateLimits({
        counters,
        scopesOf: (claim) => scopesOf()(claim),
        estimates,
        requestTimeoutSeconds,
        logger,
        onRefused: (model, limit) => metrics.refusal(model, limit),
      }),
      estimates,
    ),
    accessOf: (caller) => callers.modelAccess(caller),
    moderationOf: (caller) => callers.policyOf(caller, "moderation"),
    answerCache: parts.answerCache,
    get guardrails() {
      return settings().guardrails;
    },
    guardrailsOf: (caller) => callers.policyOf(caller, "guardrails"),
    guardrailServices: parts.guardrailServices,
    mayRecord: (caller) => mayRecord(callers.policyOf(caller, "retention")),
    mayStore: (caller) => mayStore(callers.policyOf(caller, "retention")),
    serviceTiersOf: (caller) => callers.policyOf(caller, "serviceTiers"),
    checkTools: (caller, body) => checkForwardedTools(callers.policyOf(caller, "disabledTools"), body),
    pronunciationsOf: (caller) => callers.policyOf(caller, "pronunciations"),
    transcriptionKeywordsOf: (caller) => callers.policyOf(caller, "transcriptionKeywords"),
    recordingOf: (caller) => callers.policyOf(caller, "recording"),
    onGuarded: (request) => {
      for (const { type, stage, outcome } of request.report.records) metrics.guardrail(type, stage, outcome);
      parts.onGuarded?.(request);
    },
    projectFactors: ({ projectId = "" }) => {
      const factor = settings().prices.projectFactors[projectId];
      return factor === undefined ? [] : [factor];
    },
    currentCaller: (caller) => callers.current(caller),
    stillWorks: (caller) => callers.stillWorks(caller),
    requestTimeoutSeconds,
    onMirrored: (chat) => {
      metrics.mirrored(chat.mirrored, chat.settlement.outcome);
      const request = recordMirrored(chat, logger);
      if (request !== undefined) parts.recordMirrored(request);
    },
    onMirrorDropped: (model) => metrics.mirrored(model, "dropped"),
    onToolSettled: (settlement) => {
      metrics.toolCall(settlement);
      record(toToolRecord(settlement, Date.now()), settlement.caller, toToolLabels(settlement, tools));
    },
    onSettled: (settlement) => {
      const { catalogId, deployment = "", used } = settlement;
      // A repeated answer says nothing of its deployment's speed.
      const firstTokenSeconds = settlement.cache === "hit" ? undefined : settlement.firstTokenSeconds;
      metrics.inference({ model: catalogId, deployment, firstTokenSeconds, ...used });
      metrics.cost({ ...settlement, model: catalogId, deployment });
      parts.genAi?.record(settlement);
      const usage = toUsageRecord(settlement, Date.now());
      if (usage !== undefined) record(usage, settlement.caller, toLabels(settlement, tools));
    },
  });
}

/** Computes a value again only after what it is computed from has been replaced. */
function derived<Source, Value>(read: () => Source, compute: (source: Source) => Value): () => Value {
  let source = read();
  let value = compute(source);
  return () => {
    const current = read();
    if (current !== source) {
      source = current;
      value = compute(current);
    }
    return value;
  };
}
