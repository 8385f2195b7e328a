/** Combines `opentelemetry` of the file with OpenTelemetry's standard variables, which take precedence. */

import type { OpenTelemetryOptions } from "../observability/open-telemetry-options.ts";
import { openTelemetrySettings, type Signal } from "../observability/settings.ts";
import type { ConfigErrors } from "./config-errors.ts";
import type { Environment } from "./environment-schema.ts";
import type { ConfigFile } from "./file-schema.ts";

/** Value of `content.redact` that sends content as it is. */
const NO_REDACTION = "none";

/** `resolvePath` resolves a path relative to the file. */
export function toOpenTelemetry(
  file: ConfigFile["opentelemetry"],
  environment: Environment,
  resolvePath: (path: string) => string,
): OpenTelemetryOptions | undefined {
  if (environment.OTEL_SDK_DISABLED || !hasEndpoint(file, environment)) return undefined;
  const { headers, ...settings } = file ?? openTelemetrySettings.parse({});
  const urlOf = (signal: Signal) => {
    const upper = signal.toUpperCase() as Uppercase<Signal>;
    const exporter = environment[`OTEL_${upper}_EXPORTER`];
    const isOn = exporter === undefined ? settings.signals.includes(signal) : exporter === "otlp";
    if (!isOn) return undefined;
    const exact = environment[`OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`];
    if (exact !== undefined) return exact;
    const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? settings.endpoint;
    return base && `${base.replace(/\/+$/, "")}/v1/${signal}`;
  };
  const [traces, metrics, logs] = [urlOf("traces"), urlOf("metrics"), urlOf("logs")];
  const intervalMs = environment.OTEL_METRIC_EXPORT_INTERVAL ?? settings.metricIntervalSeconds * 1000;
  const capturesContent = environment.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? true;
  const content = capturesContent ? settings.content : undefined;
  return {
    headers,
    serviceName: environment.OTEL_SERVICE_NAME ?? settings.serviceName,
    traces:
      traces === undefined
        ? undefined
        : {
            url: traces,
            sampleRatio: environment.OTEL_TRACES_SAMPLER_ARG ?? settings.sampleRatio,
            content: content && {
              redact: content.redact === NO_REDACTION ? undefined : resolvePath(content.redact),
              maxBytes: content.maxBytes,
            },
          },
    metrics: metrics === undefined ? undefined : { url: metrics, intervalMs },
    logs: logs === undefined ? undefined : { url: logs },
  };
}

export function checkOpenTelemetry(
  file: ConfigFile["opentelemetry"],
  environment: Environment,
  errors: ConfigErrors,
): void {
  if (environment.OTEL_SDK_DISABLED) return;
  if (file !== undefined && !hasEndpoint(file, environment))
    errors.add(["opentelemetry"], "needs an endpoint, or the variable OTEL_EXPORTER_OTLP_ENDPOINT");
  if (environment.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT && file?.content === undefined)
    errors.addVariable(
      "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
      "needs opentelemetry.content.redact in parlance.yaml: a module that redacts prompts and answers, or none",
    );
}

function hasEndpoint(file: ConfigFile["opentelemetry"], environment: Environment): boolean {
  return [
    file?.endpoint,
    environment.OTEL_EXPORTER_OTLP_ENDPOINT,
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    environment.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
  ].some((endpoint) => endpoint !== undefined);
}
