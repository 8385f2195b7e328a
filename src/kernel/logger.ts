import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";
import { Fault } from "./faults.ts";

export type Logger = PinoLogger;
export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** Creates a logger of JSON lines; the service writes them to standard error. Secrets stay out of the log by their type (`Secret`) and because only named fields are logged. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: toLoggedError },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Leaves the stack of an expected failure out: stacks are for bugs. */
function toLoggedError(error: unknown): unknown {
  if (!(error instanceof Fault)) return error instanceof Error ? pino.stdSerializers.err(error) : error;
  const { kind, code, message, cause } = error;
  const reason = cause instanceof Error && !message.includes(cause.message) ? cause.message : undefined;
  return { type: "Fault", kind, code, message, reason };
}

/** Formats a log line as pino would, including the line break. */
export function toLine(level: LogLevel, fields: Readonly<Record<string, unknown>>): string {
  return `{"level":"${level}"${isoTime()},${JSON.stringify(fields).slice(1)}\n`;
}

function isoTime(): string {
  return `,"time":"${new Date().toISOString()}"`;
}
