/** Metrics of OpenTelemetry's semantic conventions for generative AI, which only OTLP exports. */

import { Histogram, Registry } from "prom-client";
import type { Task } from "../contracts/task.ts";
import { genAiOperation } from "./gen-ai-operation.ts";

export interface GenAiMeasure {
  operation: Task;
  /** Catalog entry: a wildcard's own ID rather than the requested one, so that callers cannot create new series. */
  catalogId: string;
  /** Undefined: no deployment has answered. */
  engine: string | undefined;
  outcome: "finished" | "client-left" | "failed";
  durationSeconds: number;
  firstTokenSeconds: number | undefined;
  used: { promptTokens: number; completionTokens: number };
}

const LABELS = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"] as const;

/** Buckets that the conventions name. */
const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKENS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = Array.from({ length: 14 }, (_none, power) => 4 ** power);

export class GenAiMetrics {
  readonly registry = new Registry();
  readonly #durations = new Histogram({
    name: "gen_ai_client_operation_duration_seconds",
    help: "Duration of an operation, from its admission to the end of the answer.",
    labelNames: [...LABELS, "error_type"],
    registers: [this.registry],
    buckets: DURATIONS,
  });
  readonly #firstTokens = new Histogram({
    name: "gen_ai_server_time_to_first_token_seconds",
    help: "Time from an operation's admission to its first token, including the wait for a slot.",
    labelNames: LABELS,
    registers: [this.registry],
    buckets: FIRST_TOKENS,
  });
  readonly #tokens = new Histogram({
    name: "gen_ai_client_token_usage",
    help: "Input and output tokens of an operation.",
    labelNames: [...LABELS, "gen_ai_token_type"],
    registers: [this.registry],
    buckets: TOKENS,
  });

  record(measure: GenAiMeasure): void {
    const { operation, catalogId, engine = "", outcome, durationSeconds, firstTokenSeconds, used } = measure;
    const labels = {
      gen_ai_operation_name: genAiOperation(operation),
      gen_ai_provider_name: engine,
      gen_ai_request_model: catalogId,
    };
    this.#durations.observe(outcome === "finished" ? labels : { ...labels, error_type: outcome }, durationSeconds);
    if (firstTokenSeconds !== undefined) this.#firstTokens.observe(labels, firstTokenSeconds);
    if (used.promptTokens > 0) this.#tokens.observe({ ...labels, gen_ai_token_type: "input" }, used.promptTokens);
    if (used.completionTokens > 0) {
      this.#tokens.observe({ ...labels, gen_ai_token_type: "output" }, used.completionTokens);
    }
  }
}
