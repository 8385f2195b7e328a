/** Prometheus metrics of requests; those of a feature are in its folder. Label values are catalog IDs and status codes, so that callers cannot create new series. */

import { AggregatorRegistry, Counter, collectDefaultMetrics, Histogram, type Metric, Registry } from "prom-client";
import { MINUTE_MS } from "../kernel/durations.ts";
import { inDollars } from "../kernel/nano-dollars.ts";
import { type PoolMeasure, registerDeploymentGauges } from "./deployment-gauges.ts";
import type { DeploymentMeasure } from "./deployment-measure.ts";
import type { MetricsSnapshot } from "./metrics-snapshot.ts";
import { removeSeries } from "./remove-series.ts";

export interface RequestMeasure {
  operation: string;
  /** Catalog ID; empty if the request failed before its model was resolved. */
  model: string;
  status: number;
  durationSeconds: number;
  /** Fields of the body that had no effect. */
  ignoredFields: number;
}

export interface InferenceMeasure {
  model: string;
  deployment: string;
  firstTokenSeconds: number | undefined;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

interface ToolCallMeasure {
  tool: { name: string };
  outcome: string;
  durationSeconds: number;
}

export interface CostMeasure {
  model: string;
  deployment: string;
  /** Null: no price was known. */
  costNanoDollars: number | null;
  comparedCostNanoDollars: number | null;
  used: { details?: { reportedCostNanoDollars?: number | undefined } | undefined };
}

/** Share of a cost above which the provider's own statement differs from it. */
const COST_TOLERANCE = 0.01;

export interface AttemptMeasure {
  model: string;
  deployment: string;
  outcome: string;
  /** Time spent waiting for a slot. */
  queuedSeconds: number;
}

export interface MetricsSources {
  deployments: () => Iterable<DeploymentMeasure>;
  pools: () => Iterable<PoolMeasure>;
}

/** Time for which the series of an endpoint that left are kept: several intervals of a scrape. */
const KEEP_SERIES_MS = 5 * MINUTE_MS;

/** Buckets from milliseconds (cached responses) to minutes (long generations). */
const SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

let ofProcess: Metric[] | undefined;

/** Default metrics of the process, collected once: prom-client does not end its observers. */
function processMetrics(): readonly Metric[] {
  if (ofProcess === undefined) {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    ofProcess = registry.getMetricsAsArray() as object[] as Metric[];
  }
  return ofProcess;
}

export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Counter({
    name: "parlance_requests_total",
    help: "Completed requests by status; 499: the client disconnected.",
    labelNames: ["operation", "model", "status"],
    registers: [this.registry],
  });
  readonly #ignoredFields = new Counter({
    name: "parlance_ignored_fields_total",
    help: "Fields of request bodies that had no effect, as x-parlance-ignored-fields names them.",
    labelNames: ["operation", "model"],
    registers: [this.registry],
  });
  readonly #durations = new Histogram({
    name: "parlance_request_duration_seconds",
    help: "Time from a request's arrival to the end of its response.",
    labelNames: ["operation", "model"],
    registers: [this.registry],
    buckets: SECONDS,
  });
  readonly #firstTokens = new Histogram({
    name: "parlance_time_to_first_token_seconds",
    help: "Time from a chat request's admission to its first token, including the wait for a slot.",
    labelNames: ["model", "deployment"],
    registers: [this.registry],
    buckets: SECONDS,
  });
  readonly #attempts = new Counter({
    name: "parlance_attempts_total",
    help: "Attempts by deployment and outcome; begun: the response started, otherwise the reason for the failure.",
    labelNames: ["model", "deployment", "outcome"],
    registers: [this.registry],
  });
  readonly #queued = new Histogram({
    name: "parlance_queue_seconds",
    help: "Time that requests waited for a slot before they got one.",
    labelNames: ["model", "deployment"],
    registers: [this.registry],
    buckets: SECONDS,
  });
  readonly #tokens = new Counter({
    name: "parlance_tokens_total",
    help: "Prompt and completion tokens.",
    labelNames: ["model", "deployment", "direction"],
    registers: [this.registry],
  });

  readonly #costs = new Counter({
    name: "parlance_cost_dollars_total",
    help: "Cost of requests in US dollars: recorded, at the configured prices; reported, as the provider states it; compared, of the same requests at the prices of the deployment.",
    labelNames: ["model", "deployment", "source"],
    registers: [this.registry],
  });
  readonly #costDifferences = new Counter({
    name: "parlance_cost_differences_total",
    help: "Requests whose cost differs by more than 1 % from what the provider states.",
    labelNames: ["model", "deployment"],
    registers: [this.registry],
  });
  readonly #cachedTokens = new Counter({
    name: "parlance_cached_prompt_tokens_total",
    help: "Prompt tokens that a deployment reports as read from its prefix cache.",
    labelNames: ["model", "deployment"],
    registers: [this.registry],
  });
  readonly #prefixRouting = new Counter({
    name: "parlance_prefix_routing_total",
    help: "Requests routed by prefix, by outcome: home, the prefix's own deployment; overflow, the next one, because that was at its bound; none, all were, and the strategy chose.",
    labelNames: ["model", "outcome"],
    registers: [this.registry],
  });
  readonly #refusals = new Counter({
    name: "parlance_refusals_total",
    help: "Requests rejected with 429, by limit.",
    labelNames: ["model", "limit"],
    registers: [this.registry],
  });
  readonly #guardrails = new Counter({
    name: "parlance_guardrails_total",
    help: "Requests that a guardrail checked, by its type, the stage (input, output) and the outcome (passed, masked, blocked, reported, failed).",
    labelNames: ["type", "stage", "outcome"],
    registers: [this.registry],
  });
  readonly #toolCalls = new Histogram({
    name: "parlance_tool_call_duration_seconds",
    help: "Time of the calls of tools that the service runs, by tool (an MCP server counts as one) and outcome (finished, failed, client-left).",
    labelNames: ["tool", "outcome"],
    registers: [this.registry],
    buckets: SECONDS,
  });

  readonly #mirrored = new Counter({
    name: "parlance_mirrored_requests_total",
    help: "Chats that were also sent to the `mirror` of their model, by model and outcome (finished, failed, client-left: cancelled, dropped: too many at a time).",
    labelNames: ["model", "outcome"],
    registers: [this.registry],
  });

  readonly #deployments: MetricsSources["deployments"];
  /** Time at which each endpoint left its pool, by deployment. */
  readonly #left = new Map<string, number>();

  /** Calls the functions at each scrape. */
  constructor({ deployments, pools }: MetricsSources) {
    this.#deployments = deployments;
    for (const metric of processMetrics()) this.registry.registerMetric(metric);
    registerDeploymentGauges(this.registry, deployments, pools);
  }

  /** Removes a deployment's series later, unless it is back by then: endpoints of a pool come with new addresses. */
  deploymentLeft(deployment: string): void {
    this.#left.set(deployment, Date.now());
    void this.#removeLeft();
  }

  request({ operation, model, status, durationSeconds, ignoredFields }: RequestMeasure): void {
    if (ignoredFields > 0) this.#ignoredFields.inc({ operation, model }, ignoredFields);
    this.#requests.inc({ operation, model, status });
    this.#durations.observe({ operation, model }, durationSeconds);
  }

  inference(measure: InferenceMeasure): void {
    const { model, deployment, firstTokenSeconds, promptTokens, cachedTokens, completionTokens } = measure;
    if (cachedTokens > 0) this.#cachedTokens.inc({ model, deployment }, cachedTokens);
    if (firstTokenSeconds !== undefined) this.#firstTokens.observe({ model, deployment }, firstTokenSeconds);
    this.#tokens.inc({ model, deployment, direction: "prompt" }, promptTokens);
    this.#tokens.inc({ model, deployment, direction: "completion" }, completionTokens);
  }

  cost({ model, deployment, costNanoDollars, comparedCostNanoDollars, used }: CostMeasure): void {
    const add = (source: string, nanoDollars: number) =>
      this.#costs.inc({ model, deployment, source }, inDollars(nanoDollars));
    if (costNanoDollars !== null) add("recorded", costNanoDollars);
    const reported = used.details?.reportedCostNanoDollars;
    if (reported === undefined) return;
    add("reported", reported);
    if (comparedCostNanoDollars === null) return;
    add("compared", comparedCostNanoDollars);
    const difference = Math.abs(reported - comparedCostNanoDollars);
    // The rounding of tiny amounts is no difference.
    if (difference > 1 && difference > COST_TOLERANCE * comparedCostNanoDollars)
      this.#costDifferences.inc({ model, deployment });
  }

  attempt({ model, deployment, outcome, queuedSeconds }: AttemptMeasure): void {
    this.#attempts.inc({ model, deployment, outcome });
    this.#queued.observe({ model, deployment }, queuedSeconds);
  }

  prefixRouted(model: string, outcome: string): void {
    this.#prefixRouting.inc({ model, outcome });
  }

  refusal(model: string, limit: string): void {
    this.#refusals.inc({ model, limit });
  }

  guardrail(type: string, stage: string, outcome: string): void {
    this.#guardrails.inc({ type, stage, outcome });
  }

  mirrored(model: string, outcome: string): void {
    this.#mirrored.inc({ model, outcome });
  }

  toolCall({ tool, outcome, durationSeconds }: ToolCallMeasure): void {
    this.#toolCalls.observe({ tool: tool.name, outcome }, durationSeconds);
  }

  /** Includes the values of other processes: sums, except for gauges that all processes see alike. */
  async scrape(others: readonly MetricsSnapshot[] = []): Promise<{ contentType: string; text: string }> {
    await this.#removeLeft();
    const { contentType } = this.registry;
    if (others.length === 0) return { contentType, text: await this.registry.metrics() };
    const all = AggregatorRegistry.aggregate([await this.snapshot(), ...others]);
    return { contentType, text: await all.metrics() };
  }

  async snapshot(): Promise<MetricsSnapshot> {
    return this.registry.getMetricsAsJSON();
  }

  async #removeLeft(): Promise<void> {
    const before = Date.now() - KEEP_SERIES_MS;
    const gone = new Set([...this.#left].filter(([, at]) => at < before).map(([name]) => name));
    if (gone.size === 0) return;
    for (const name of gone) this.#left.delete(name);
    for (const { deployment } of this.#deployments()) gone.delete(deployment);
    const metrics = [this.#attempts, this.#queued, this.#firstTokens, this.#tokens, this.#cachedTokens, this.#costs];
    for (const metric of metrics) await removeSeries(metric, gone);
  }
}
