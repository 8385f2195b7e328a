import { z } from "zod";
import { Secret } from "../kernel/secret.ts";
import { mapping } from "../kernel/settings/mapping.ts";

const SIGNALS = ["traces", "metrics", "logs"] as const;
export type Signal = (typeof SIGNALS)[number];

const content = mapping(
  () => ({
    redact: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        "Path of a JavaScript module, relative to this file, whose default export gets the messages and returns what spans may contain; `none` sends them as they are.",
      ),
    max_bytes: z
      .number()
      .int()
      .min(256)
      .max(262_144)
      .default(16_384)
      .describe("Maximum bytes of the input and of the output of one span."),
  }),
  "Adds prompts and answers to the spans of chats. Default: spans never contain them.",
);

/** Section `opentelemetry`. */
export const openTelemetrySettings = mapping(
  () => ({
    endpoint: z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .max(2000)
      .optional()
      .describe(
        "Base URL of a collector that receives OTLP over HTTP, such as http://collector:4318; OTEL_EXPORTER_OTLP_ENDPOINT overrides it.",
      ),
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9-]{1,100}$/, { error: "must be the name of a header" }),
        z
          .string()
          .max(10_000)
          .transform((value) => new Secret(value)),
      )
      .default({})
      .describe("Headers of requests to the collector, such as an authorization from an environment variable."),
    service_name: z
      .string()
      .min(1)
      .max(200)
      .default("parlance")
      .describe("`service.name` of everything that is exported; OTEL_SERVICE_NAME overrides it."),
    signals: z
      .array(z.enum(SIGNALS))
      .default(["traces", "metrics"])
      .describe(
        "What to export: traces, metrics, logs. OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER override it.",
      ),
    sample_ratio: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe(
        "Share of requests to trace; OTEL_TRACES_SAMPLER_ARG overrides it. A `traceparent` header with a decision of the caller takes precedence.",
      ),
    metric_interval_seconds: z
      .number()
      .min(1)
      .max(3600)
      .default(60)
      .describe("Time between exports of metrics; OTEL_METRIC_EXPORT_INTERVAL overrides it."),
    content: content.optional(),
  }),
  "Traces, metrics and logs over OTLP. Default: none.",
);
