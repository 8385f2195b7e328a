import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";

export type Logger = PinoLogger;
export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** JSON lines on standard output. What must never be logged is kept out by its type (`Secret`) and by logging named fields only. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Where a logger writes, and how it is told the level of the line. */
interface Destination extends DestinationStream {
  lastLevel: number;
}

/**
 * As `logger.info(fields)`, for the line that each request writes: pino makes JSON of its twenty fields one by one, which
 * takes three times as long.
 */
export function logInfo(logger: Logger, fields: { msg: string }): void {
  if (!logger.isLevelEnabled("info")) return;
  const destination = (logger as unknown as Record<symbol, Destination>)[pino.symbols.streamSym] as Destination;
  destination.lastLevel = pino.levels.values.info as number;
  destination.write(toLine("info", fields));
}

/** A line of the log as pino would write it, its end included. */
export function toLine(level: LogLevel, fields: Readonly<Record<string, unknown>>): string {
  return `{"level":"${level}"${isoTime()},${JSON.stringify(fields).slice(1)}\n`;
}

let lastMillisecond = 0;
let lastTime = "";

/** Lines of one millisecond share the text of it, whose making costs as much as a line's own. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastMillisecond) {
    lastMillisecond = now;
    lastTime = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastTime;
}
