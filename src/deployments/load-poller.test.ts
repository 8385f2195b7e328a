import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { EngineLoad } from "../contracts/open-model.ts";
import { LoadPoller } from "./load-poller.ts";

beforeEach(() => {
  vi.useFakeTimers();
  // When a poller begins.
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const INTERVAL_MS = 1000;

function startPoller(read: (signal: AbortSignal) => Promise<EngineLoad>, own = () => 0) {
  const signals: AbortSignal[] = [];
  const poller = new LoadPoller(
    {
      intervalSeconds: INTERVAL_MS / 1000,
      read: (signal) => {
        signals.push(signal);
        return read(signal);
      },
    },
    own,
  );
  return { poller, signals };
}

const load = (running: number): EngineLoad => ({ running, waiting: 1, cacheUsage: 0.5 });

test("counts the requests that are not its own", async () => {
  const { poller } = startPoller(
    async () => load(7),
    () => 3,
  );
  expect(poller.latest).toBeUndefined();
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(poller.latest).toEqual({ running: 7, waiting: 1, cacheUsage: 0.5, others: 5 });
  poller.stop();
});

test("counts no others while the engine has not seen all of its own requests", async () => {
  const { poller } = startPoller(
    async () => load(2),
    () => 9,
  );
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(poller.latest?.others).toBe(0);
  poller.stop();
});

test("drops a stale value after two failures, and recovers", async () => {
  let isBroken = false;
  const { poller } = startPoller(async () => {
    if (isBroken) throw new Error("refused");
    return load(7);
  });
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(poller.latest?.running).toBe(7);
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(poller.latest).toBeUndefined();
  isBroken = false;
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(poller.latest?.running).toBe(7);
  poller.stop();
});

test("drops the value of an engine that hangs, also one that ignores the signal, and polls it once at a time", async () => {
  let hung = 0;
  const { poller, signals } = startPoller(() => {
    // Each earlier read has been given up.
    expect(signals.slice(1, -1).every(({ aborted }) => aborted)).toBe(true);
    if (signals.length === 1) return Promise.resolve(load(7));
    hung += 1;
    return new Promise(() => {});
  });
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(poller.latest?.running).toBe(7);
  await vi.advanceTimersByTimeAsync(4 * INTERVAL_MS);
  expect(poller.latest).toBeUndefined();
  expect(hung).toBeGreaterThan(1);
  expect(signals[1]?.aborted).toBe(true);
  poller.stop();
});

test("reads nothing more once it is stopped", async () => {
  const { poller, signals } = startPoller(async () => load(7));
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  poller.stop();
  expect(poller.latest).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
  expect(signals).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
