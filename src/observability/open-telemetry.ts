import type { Registry } from "prom-client";
import type { Logger } from "../kernel/logger.ts";
import type { GenAiMetrics } from "./gen-ai-metrics.ts";
import type { OpenTelemetryOptions } from "./open-telemetry-options.ts";
import type { OtlpLogs } from "./otlp-logs.ts";
import type { Tracing } from "./trace.ts";

export interface Telemetry {
  tracing: Tracing | undefined;
  genAi: GenAiMetrics | undefined;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Exports traces, and the metrics of the registry; loads OpenTelemetry only if it is configured. */
export async function openTelemetry(
  options: OpenTelemetryOptions | undefined,
  registry: Registry,
  logger: Logger,
): Promise<Telemetry | undefined> {
  if (options === undefined) return undefined;
  const { reportExportFailures } = await import("./otlp-export.ts");
  reportExportFailures(logger);
  const tracing =
    options.traces && (await (await import("./otlp-traces.ts")).startTracing(options, options.traces, logger));
  const metrics =
    options.metrics && (await import("./otlp-metrics.ts")).exportMetrics(options, options.metrics, registry);
  return {
    tracing,
    genAi: metrics?.genAi,
    close: async () => {
      await Promise.all([tracing?.close(), metrics?.close()]);
    },
  };
}

/** Opens the export of log lines, which begins before the other parts start and ends after them. */
export async function openLogExport(options: OpenTelemetryOptions | undefined): Promise<OtlpLogs | undefined> {
  if (options?.logs === undefined) return undefined;
  const { OtlpLogs } = await import("./otlp-logs.ts");
  return new OtlpLogs(options, options.logs);
}
