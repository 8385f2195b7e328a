import { type DestinationStream, pino } from "pino";
import { createLogger, type Logger, type LogLevel } from "../kernel/logger.ts";
import { bufferedLogDestination } from "./buffered-log-destination.ts";

const STANDARD_ERROR = 2;

/** One for the process, at whose exit it writes what is buffered. */
let standardError: DestinationStream | undefined;

/** Opens the log on standard error; standard output is for people. `copy` gets the same lines. */
export function openLog(level: LogLevel, copy?: DestinationStream): Logger {
  standardError ??= bufferedLogDestination(STANDARD_ERROR);
  if (copy === undefined) return createLogger(level, standardError);
  // The logger decides which levels are written.
  const streams = [standardError, copy].map((stream) => ({ stream, level: "trace" as const }));
  return createLogger(level, pino.multistream(streams));
}
