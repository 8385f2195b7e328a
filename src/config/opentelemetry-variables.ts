/** OpenTelemetry's standard variables that Parlance reads; its SDK reads those of the exporter too. */

import { z } from "zod";

const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(2000);
const exporter = z.enum(["otlp", "none"]);
const trueOrFalse = z
  .string()
  .toLowerCase()
  .pipe(z.enum(["true", "false"]))
  .transform((value) => value === "true");
const CAPTURE = { true: true, span_only: true, false: false, no_content: false } as const;

export const openTelemetryVariables = {
  OTEL_SDK_DISABLED: trueOrFalse.optional().describe("true exports nothing."),
  OTEL_EXPORTER_OTLP_ENDPOINT: url
    .optional()
    .describe(
      "Base URL of a collector that receives OTLP over HTTP, such as http://collector:4318; overrides opentelemetry.endpoint.",
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.optional().describe("URL for traces, used as it is."),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url.optional().describe("URL for metrics, used as it is."),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: url.optional().describe("URL for logs, used as it is."),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .literal("http/protobuf", { error: "must be http/protobuf, the only protocol that Parlance exports" })
    .optional()
    .describe("Must be http/protobuf."),
  OTEL_TRACES_EXPORTER: exporter.optional().describe("otlp or none; overrides opentelemetry.signals."),
  OTEL_METRICS_EXPORTER: z
    .enum(["otlp", "prometheus", "none"])
    .optional()
    .describe("otlp or none; overrides opentelemetry.signals. prometheus: only at /metrics."),
  OTEL_LOGS_EXPORTER: exporter.optional().describe("otlp or none; overrides opentelemetry.signals."),
  OTEL_SERVICE_NAME: z
    .string()
    .max(200)
    .optional()
    .describe("`service.name` of everything that is exported; overrides opentelemetry.service_name."),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .transform(Number)
    .pipe(z.number({ error: "must be a number from 0 to 1" }).min(0).max(1))
    .optional()
    .describe("Share of requests to trace, 0 to 1; overrides opentelemetry.sample_ratio."),
  OTEL_METRIC_EXPORT_INTERVAL: z
    .string()
    .transform(Number)
    .pipe(z.number({ error: "must be a number of milliseconds" }).int().min(100).max(3_600_000))
    .optional()
    .describe("Milliseconds between exports of metrics; overrides opentelemetry.metric_interval_seconds."),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["true", "span_only", "false", "no_content"]))
    .transform((value) => CAPTURE[value])
    .optional()
    .describe("false or no_content keeps prompts and answers out of spans even if opentelemetry.content is set."),
};
