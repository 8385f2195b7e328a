import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createLogger, type Logger } from "../kernel/logger.ts";
import { bufferedLogDestination } from "./buffered-log-destination.ts";

let folder: TemporaryDirectory;
let logger: Logger;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
  folder = await temporaryDirectory();
  // Stays open, since a write may still be active at the end.
  logger = createLogger("info", bufferedLogDestination(openSync(join(folder.path, "log"), "w")));
});
afterEach(async () => {
  vi.useRealTimers();
  await folder[Symbol.asyncDispose]();
});

/** Messages of the complete lines: the last line may still be being written. */
const messages = () =>
  readFileSync(join(folder.path, "log"), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).msg);

/** Messages written without a timer, up to `last`. */
async function written(last: string): Promise<string[]> {
  for (let turn = 0; turn < 50_000 && messages().at(-1) !== last; turn += 1) await nextTurn();
  return messages();
}

test("flushes after the interval, or at once with a warning", async () => {
  logger.info("one");
  logger.info("two");
  expect(messages()).toEqual([]);
  vi.advanceTimersToNextTimer();
  expect(await written("two")).toEqual(["one", "two"]);
  logger.info("three");
  logger.warn("four");
  expect(await written("four")).toEqual(["one", "two", "three", "four"]);
});

test("writes an error as soon as the active write finishes", async () => {
  logger.info({ filler: "x".repeat(64_000) }, "one");
  logger.error("two");
  expect(await written("two")).toEqual(["one", "two"]);
});

test("sets no timer while the buffer is empty", async () => {
  expect(vi.getTimerCount()).toBe(0);
  logger.info("one");
  vi.advanceTimersToNextTimer();
  await written("one");
  expect(vi.getTimerCount()).toBe(0);
});

test("flushes the buffer when the process exits", () => {
  const script = `
    const { bufferedLogDestination } = await import("${new URL("buffered-log-destination.ts", import.meta.url)}");
    const { createLogger } = await import("${new URL("../kernel/logger.ts", import.meta.url)}");
    const logger = createLogger("info", bufferedLogDestination(2));
    for (let line = 0; line < 100; line += 1) logger.info({ filler: "x".repeat(1000) }, String(line));
    process.exit(0);
  `;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  const lines = stderr.trim().split("\n");
  const numbers = lines.map((line) => Number(JSON.parse(line).msg)).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 100 }, (_none, index) => index));
});

/** Non-blocking pipe without a reader: writes fail with EAGAIN when it is full. */
function unreadPipe(): { descriptor: number; read: () => string } {
  const path = join(folder.path, "pipe");
  spawnSync("mkfifo", [path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(descriptor));
  const buffer = Buffer.alloc(64 * 1024);
  const read = () => {
    try {
      return buffer.toString("latin1", 0, readSync(descriptor, buffer));
    } catch {
      return "";
    }
  };
  return { descriptor, read };
}

const FILLER = "x".repeat(10_000);

test("buffers 1 MiB while the output blocks, drops further lines and logs their count", async () => {
  vi.useRealTimers();
  const { descriptor, read } = unreadPipe();
  const stalled = createLogger("info", bufferedLogDestination(descriptor));
  for (let line = 0; line < 300; line += 1) stalled.info({ filler: FILLER }, String(line));
  let text = "";
  const lines = () => text.split("\n").slice(0, -1);
  const untilLast = (message: string) => {
    const isThere = () => {
      text += read();
      return lines().at(-1)?.includes(message);
    };
    return expect.poll(isThere, { interval: 5 }).toBe(true);
  };
  await untilLast("dropped");
  const parsed = lines().map((line) => JSON.parse(line));
  const last = parsed.pop();
  expect(parsed.map(({ msg }) => Number(msg))).toEqual(Array.from(parsed, (_line, index) => index));
  expect(last).toMatchObject({ level: "warn", lines: 300 - parsed.length, reason: "not read in time" });
  // At least 1 MiB was buffered, and not much more.
  expect(parsed.length).toBeGreaterThan(100);
  expect(parsed.length).toBeLessThan(150);
  // Later lines are written as usual.
  stalled.warn("again");
  await untilLast("again");
});

test("does not delay a process's exit while nothing reads its log", () => {
  const { descriptor } = unreadPipe();
  const script = `
    const { bufferedLogDestination } = await import("${new URL("buffered-log-destination.ts", import.meta.url)}");
    const { createLogger } = await import("${new URL("../kernel/logger.ts", import.meta.url)}");
    const logger = createLogger("info", bufferedLogDestination(3));
    for (let line = 0; line < 20; line += 1) logger.info({ filler: "${FILLER}" }, String(line));
    setTimeout(() => process.exit(7), 200);
  `;
  const ended = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "inherit", "inherit", descriptor],
    timeout: 200_000,
  });
  expect(ended.status).toBe(7);
});
