/** What Prometheus scrapes. Labels are catalog ids and status codes, so that callers cannot make new series. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface RequestMeasure {
  operation: string;
  /** Catalog id, or empty when the request did not get as far as a model. */
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
  completionTokens: number;
}

export interface AttemptMeasure {
  model: string;
  deployment: string;
  outcome: string;
  /** Spent waiting for a slot. */
  queuedSeconds: number;
}

export interface DeploymentMeasure {
  model: string;
  deployment: string;
  isUp: boolean;
  /** Left alone for a while since it failed. */
  isCircuitOpen: boolean;
  waiting: number;
  slotsInUse: number;
  /** Of a local model that is loaded. */
  memoryBytes: number | undefined;
  /** How long the last load of a local model took. */
  loadSeconds: number | undefined;
}

export interface CountersMeasure {
  /** Undefined: there is nothing to share them in. */
  isShared: boolean | undefined;
  replicas: number;
}

/** From a cached answer's milliseconds to a long generation's minutes. */
const SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "parlance_requests_total",
    help: "Requests answered; status 499 is a client that left.",
    labelNames: ["operation", "model", "status"],
    registers: [this.#registry],
  });
  readonly #ignoredFields = new Counter({
    name: "parlance_ignored_fields_total",
    help: "Fields of request bodies that had no effect, as x-parlance-ignored-fields names them.",
    labelNames: ["operation", "model"],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: "parlance_request_duration_seconds",
    help: "From a request's arrival to its answer's end.",
    labelNames: ["operation", "model"],
    registers: [this.#registry],
    buckets: SECONDS,
  });
  readonly #firstTokens = new Histogram({
    name: "parlance_time_to_first_token_seconds",
    help: "From a chat request's admission to its answer's first token, waiting for a slot included.",
    labelNames: ["model", "deployment"],
    registers: [this.#registry],
    buckets: SECONDS,
  });
  readonly #attempts = new Counter({
    name: "parlance_attempts_total",
    help: "Times that a deployment was asked; begun: it began to answer, otherwise why it did not.",
    labelNames: ["model", "deployment", "outcome"],
    registers: [this.#registry],
  });
  readonly #queued = new Histogram({
    name: "parlance_queue_seconds",
    help: "Spent waiting for a slot by those that got one.",
    labelNames: ["model", "deployment"],
    registers: [this.#registry],
    buckets: SECONDS,
  });
  readonly #tokens = new Counter({
    name: "parlance_tokens_total",
    help: "Tokens read (prompt) and generated (completion).",
    labelNames: ["model", "deployment", "direction"],
    registers: [this.#registry],
  });

  readonly #refusals = new Counter({
    name: "parlance_refusals_total",
    help: "Requests refused with 429, by what was limited.",
    labelNames: ["model", "limit"],
    registers: [this.#registry],
  });
  readonly #lostUsage = new Counter({
    name: "parlance_usage_records_lost_total",
    help: "Requests whose usage could not be kept: the disk failed, or the database was away for too long.",
    registers: [this.#registry],
  });

  /** Both are asked at each scrape. */
  constructor(deployments: () => Iterable<DeploymentMeasure>, counters: () => CountersMeasure) {
    collectDefaultMetrics({ register: this.#registry });
    this.#countersGauge("parlance_shared_counters_up", "1 while replicas count limits together.", () => {
      const { isShared } = counters();
      return isShared === undefined ? undefined : Number(isShared);
    });
    this.#countersGauge("parlance_replicas", "Replicas that count limits together, as last seen.", () => {
      return counters().replicas;
    });
    this.#gauge("parlance_deployment_up", "1 while a deployment can serve.", deployments, (each) => Number(each.isUp));
    const isCircuitOpen = (each: DeploymentMeasure) => Number(each.isCircuitOpen);
    this.#gauge("parlance_circuit_open", "1 while a deployment rests since it failed.", deployments, isCircuitOpen);
    this.#gauge("parlance_queue_length", "Requests that wait for a slot.", deployments, (each) => each.waiting);
    this.#gauge(
      "parlance_slots_in_use",
      "Requests that a deployment serves now.",
      deployments,
      (each) => each.slotsInUse,
    );
    this.#gauge(
      "parlance_model_memory_bytes",
      "Resident memory of a loaded local model.",
      deployments,
      (each) => each.memoryBytes,
    );
    this.#gauge(
      "parlance_model_load_seconds",
      "Duration of a deployment's last load.",
      deployments,
      (each) => each.loadSeconds,
    );
  }

  request({ operation, model, status, durationSeconds, ignoredFields }: RequestMeasure): void {
    if (ignoredFields > 0) this.#ignoredFields.inc({ operation, model }, ignoredFields);
    this.#requests.inc({ operation, model, status });
    this.#durations.observe({ operation, model }, durationSeconds);
  }

  inference({ model, deployment, firstTokenSeconds, promptTokens, completionTokens }: InferenceMeasure): void {
    if (firstTokenSeconds !== undefined) this.#firstTokens.observe({ model, deployment }, firstTokenSeconds);
    this.#tokens.inc({ model, deployment, direction: "prompt" }, promptTokens);
    this.#tokens.inc({ model, deployment, direction: "completion" }, completionTokens);
  }

  attempt({ model, deployment, outcome, queuedSeconds }: AttemptMeasure): void {
    this.#attempts.inc({ model, deployment, outcome });
    this.#queued.observe({ model, deployment }, queuedSeconds);
  }

  refusal(model: string, limit: string): void {
    this.#refusals.inc({ model, limit });
  }

  lostUsage(records: number): void {
    this.#lostUsage.inc(records);
  }

  async scrape(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #gauge(
    name: string,
    help: string,
    deployments: () => Iterable<DeploymentMeasure>,
    measure: (each: DeploymentMeasure) => number | undefined,
  ): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ["model", "deployment"],
      registers: [this.#registry],
      collect: () => {
        // A deployment that a new configuration removed must not be reported for ever.
        gauge.reset();
        for (const each of deployments()) {
          const value = measure(each);
          if (value !== undefined) gauge.set({ model: each.model, deployment: each.deployment }, value);
        }
      },
    });
  }

  #countersGauge(name: string, help: string, measure: () => number | undefined): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        const value = measure();
        if (value === undefined) gauge.remove();
        else gauge.set(value);
      },
    });
  }
}
