import { bufferedLogDestination } from "../observability/buffered-log-destination.ts";
import { createLogger, type Logger, type LogLevel } from "../observability/logger.ts";

const STANDARD_ERROR = 2;

/** People read standard output, machines the log on standard error. */
export function openLog(level: LogLevel): Logger {
  return createLogger(level, bufferedLogDestination(STANDARD_ERROR));
}
