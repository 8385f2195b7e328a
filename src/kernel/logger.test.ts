import { expect, test, vi } from "vitest";
import { createLogger, toLine } from "./logger.ts";

test("formats a line as pino does", () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const fields = { text: 'a "quoted"\n\u2028 é😀', missing: undefined, number: 1.5, none: null, msg: "request" };
  createLogger("info", { write: (line) => lines.push(line) }).info(fields);
  expect(lines).toEqual([toLine("info", fields)]);
  vi.useRealTimers();
});
