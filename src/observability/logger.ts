import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";

export type Logger = PinoLogger;
export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** Logs JSON lines to `destination`; the service writes them to standard error. What must never be logged is kept out by its type (`Secret`) and by logging named fields only. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** A line of the log as pino would write it, its end included. */
export function toLine(level: LogLevel, fields: Readonly<Record<string, unknown>>): string {
  return `{"level":"${level}"${isoTime()},${JSON.stringify(fields).slice(1)}\n`;
}

function isoTime(): string {
  return `,"time":"${new Date().toISOString()}"`;
}
