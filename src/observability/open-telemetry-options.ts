import type { Secret } from "../kernel/secret.ts";
import type { ContentOptions } from "./content-capture.ts";

export interface OpenTelemetryOptions {
  headers: Readonly<Record<string, Secret>>;
  serviceName: string;
  /** Undefined: signals that are not exported. `url` receives OTLP over HTTP. */
  traces: TracesOptions | undefined;
  metrics: { url: string; intervalMs: number } | undefined;
  logs: { url: string } | undefined;
}

export interface TracesOptions {
  url: string;
  /** Share of traces to record, 0 to 1, unless the caller has decided. */
  sampleRatio: number;
  /** Undefined: spans never contain prompts and answers. */
  content: ContentOptions | undefined;
}

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    /** Undefined: nothing is exported. */
    openTelemetry: OpenTelemetryOptions | undefined;
  }
}
