import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Poll } from "./poll.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("runs the task after each pause until it is closed", async () => {
  const task = vi.fn();
  const poll = new Poll(task, { everyMs: 1000, firstMs: 100 });
  await vi.advanceTimersByTimeAsync(100);
  expect(task).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2000);
  expect(task).toHaveBeenCalledTimes(3);
  await poll.close();
  await poll.run();
  await vi.advanceTimersByTimeAsync(5000);
  expect(task).toHaveBeenCalledTimes(3);
});

test("runs one task at a time, and another one when it is woken meanwhile", async () => {
  const ends: (() => void)[] = [];
  const poll = new Poll(() => new Promise<void>((end) => ends.push(end)), { everyMs: 1000 });
  const first = poll.run();
  expect(poll.run()).toBe(first);
  poll.wake();
  await vi.advanceTimersByTimeAsync(500);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(1);
  expect(ends).toHaveLength(2);
  const closing = poll.close();
  ends[1]?.();
  await closing;
});

test("runs at each time that it is woken at, and after the pause", async () => {
  const task = vi.fn();
  await using poll = new Poll(task, { everyMs: 10_000 });
  poll.wake(500);
  poll.wake(50);
  poll.wake(51);
  poll.wake();
  await vi.advanceTimersByTimeAsync(1);
  expect(task).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(task.mock.calls.length).toBeOneOf([2, 3]);
  const before = task.mock.calls.length;
  await vi.advanceTimersByTimeAsync(500);
  expect(task).toHaveBeenCalledTimes(before + 1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(task).toHaveBeenCalledTimes(before + 2);
});

test("goes on after a failure, which it reports", async () => {
  const failures: unknown[] = [];
  let runs = 0;
  const task = async () => {
    runs += 1;
    if (runs === 1) throw new Error("away");
  };
  await using _poll = new Poll(task, { everyMs: 1000, onFailure: (error) => failures.push(error) });
  await vi.advanceTimersByTimeAsync(2000);
  expect(runs).toBe(2);
  expect(failures).toMatchObject([{ message: "away" }]);
});

test("shortens each pause by a random part", async () => {
  const task = vi.fn();
  await using _poll = new Poll(task, { everyMs: 1000, jitter: 0.5 });
  await vi.advanceTimersByTimeAsync(499);
  expect(task).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(501);
  expect(task.mock.calls.length).toBeGreaterThanOrEqual(1);
});
