import { expect, test, vi } from "vitest";
import { createLogger, type LogLevel, logInfo } from "./logger.ts";

function logged(level: LogLevel, log: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  log(createLogger(level, { write: (line) => lines.push(line) }));
  return lines;
}

test("a line written at once is the one that pino would write", () => {
  vi.useFakeTimers();
  const fields = { text: 'a "quoted"\n\u2028 é😀', missing: undefined, number: 1.5, none: null, msg: "request" };
  expect(logged("info", (logger) => logInfo(logger, fields))).toEqual(logged("info", (logger) => logger.info(fields)));
  vi.useRealTimers();
});

test("nor is it written below the level", () => {
  for (const level of ["silent", "warn"] as const) {
    expect(logged(level, (logger) => logInfo(logger, { msg: "request" }))).toEqual([]);
  }
  const reloaded = (logger: ReturnType<typeof createLogger>) => {
    logger.level = "debug";
    logInfo(logger, { msg: "request" });
  };
  expect(logged("silent", reloaded)).toHaveLength(1);
});
