import type { Secret } from "../secret.ts";
import type { Tracing } from "./trace.ts";

export interface OpenTelemetryOptions {
  /** Base URL of OTLP over HTTP. */
  endpoint: string;
  headers: Readonly<Record<string, Secret>>;
  /** Share of traces to record, 0 to 1, unless the caller has decided. */
  sampleRatio: number;
  serviceName: string;
}

/** Loads OpenTelemetry only if it is configured. */
export async function openTracing(options: OpenTelemetryOptions | undefined): Promise<Tracing | undefined> {
  if (options === undefined) return undefined;
  const { startTracing } = await import("./open-telemetry.ts");
  return startTracing(options);
}
