/** Metrics over OTLP (HTTP, protobuf): the registry of `/metrics` and those of the GenAI conventions. */

import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { emptyResource } from "@opentelemetry/resources";
import { MeterProvider, type MetricProducer, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import type { Registry } from "prom-client";
import { VERSION } from "../kernel/version.ts";
import { GenAiMetrics } from "./gen-ai-metrics.ts";
import type { OpenTelemetryOptions } from "./open-telemetry-options.ts";
import { exporterOptions, resourceOf, shutDown } from "./otlp-export.ts";
import { toOtlpMetrics } from "./to-otlp-metrics.ts";

interface MetricsExport {
  genAi: GenAiMetrics;
  /** Sends the last values. */
  close(): Promise<void>;
}

/** Reads the registries at each export, so requests cost the same as without it. */
export function exportMetrics(
  options: OpenTelemetryOptions,
  { url, intervalMs }: NonNullable<OpenTelemetryOptions["metrics"]>,
  registry: Registry,
): MetricsExport {
  const genAi = new GenAiMetrics();
  const provider = new MeterProvider({
    resource: resourceOf(options),
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(exporterOptions(options, url)),
        exportIntervalMillis: intervalMs,
        metricProducers: [producerOf([registry, genAi.registry])],
      }),
    ],
  });
  return { genAi, close: () => shutDown(provider) };
}

function producerOf(registries: readonly Registry[]): MetricProducer {
  const scope = { name: "parlance", version: VERSION };
  return {
    collect: async () => {
      const read = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
      const metrics = toOtlpMetrics(read.flat(), { startMs: performance.timeOrigin, nowMs: Date.now() });
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  };
}
