/** Log lines over OTLP (HTTP, protobuf). */

import { type Logger as OtlpLogger, ROOT_CONTEXT, SeverityNumber, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import type { DestinationStream } from "pino";
import { VERSION } from "../kernel/version.ts";
import type { OpenTelemetryOptions } from "./open-telemetry-options.ts";
import { exporterOptions, resourceOf, shutDown } from "./otlp-export.ts";

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Fields of a line that an OTLP record has places for. */
interface Line {
  level: string;
  time: string;
  msg?: string;
  traceId?: string;
  spanId?: string;
  err?: { type?: string; message?: string; stack?: string };
}

/** Exports the lines as they are written, so they contain no more than the log on standard error. */
export class OtlpLogs implements DestinationStream, AsyncDisposable {
  readonly #provider: LoggerProvider;
  readonly #logger: OtlpLogger;

  constructor(options: OpenTelemetryOptions, { url }: NonNullable<OpenTelemetryOptions["logs"]>) {
    const exporter = new OTLPLogExporter(exporterOptions(options, url));
    this.#provider = new LoggerProvider({
      resource: resourceOf(options),
      processors: [new BatchLogRecordProcessor({ exporter })],
    });
    this.#logger = this.#provider.getLogger("parlance", VERSION);
  }

  write(line: string): void {
    const { level, time, msg, err, spanId, ...rest } = JSON.parse(line) as Line;
    const { traceId } = rest;
    this.#logger.emit({
      timestamp: Date.parse(time),
      severityNumber: SEVERITIES[level] ?? SeverityNumber.UNSPECIFIED,
      severityText: level,
      body: msg ?? "",
      attributes: { ...rest, ...exceptionAttributes(err) },
      ...(traceId !== undefined &&
        spanId !== undefined && {
          context: trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED }),
        }),
    });
  }

  /** Sends the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    await shutDown(this.#provider);
  }
}

function exceptionAttributes(error: Line["err"]): Record<string, string | undefined> {
  if (error === undefined) return {};
  const { type, message, stack } = error;
  return { "exception.type": type, "exception.message": message, "exception.stacktrace": stack };
}
