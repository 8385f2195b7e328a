import { bufferedLogDestination } from "../observability/buffered-log-destination.ts";
import { createLogger, type Logger, type LogLevel } from "../observability/logger.ts";

const STANDARD_ERROR = 2;

/** Opens the log on standard error; standard output is for people. */
export function openLog(level: LogLevel): Logger {
  return createLogger(level, bufferedLogDestination(STANDARD_ERROR));
}
