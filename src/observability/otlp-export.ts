/** What the exporters of all signals share. */

import { randomUUID } from "node:crypto";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { detectResources, envDetector, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { resultWithin } from "../kernel/async/timeout.ts";
import { MINUTE_MS } from "../kernel/durations.ts";
import type { Logger } from "../kernel/logger.ts";
import { VERSION } from "../kernel/version.ts";
import type { OpenTelemetryOptions } from "./open-telemetry-options.ts";

const REPORT_INTERVAL_MS = MINUTE_MS;
/** The exporters' own timeout is 10 s. */
const SHUTDOWN_MS = 3_000;

/** Distinguishes the metrics of replicas, and of one replica before and after a restart. */
const INSTANCE_ID = randomUUID();

/** Returns the attributes of this process; `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` take precedence. */
export function resourceOf({ serviceName }: OpenTelemetryOptions): Resource {
  return resourceFromAttributes({
    "service.name": serviceName,
    "service.version": VERSION,
    "service.instance.id": INSTANCE_ID,
  }).merge(detectResources({ detectors: [envDetector] }));
}

/** The SDK adds `OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION` and the certificates. */
export function exporterOptions(
  { headers }: OpenTelemetryOptions,
  url: string,
): { url: string; headers: Record<string, string> } {
  return { url, headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])) };
}

/** Sends what is left, for at most three seconds: a collector may not answer. Logs are sent last, after the other signals. */
export async function shutDown(provider: { shutdown(): Promise<void> }): Promise<void> {
  const sent = provider.shutdown().catch(() => {});
  await resultWithin(sent, SHUTDOWN_MS);
}

/** Logs failed exports, at most once a minute: the logs themselves may be exported. */
export function reportExportFailures(logger: Logger): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((failure) => {
    const now = performance.now();
    if (now - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = now;
    const reason = failure instanceof Error ? failure.message : String(failure);
    logger.warn({ reason: reason.slice(0, 300) }, "telemetry could not be exported");
  });
}
