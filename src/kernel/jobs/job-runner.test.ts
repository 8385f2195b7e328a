import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../logger.ts";
import { type JobEnd, JobRunner, type JobRunnerOptions, type JobStore } from "./job-runner.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const LEASE_MS = 8_000;

interface Job {
  id: string;
}

/** Jobs in memory, which runners share. */
class MemoryStore implements JobStore<Job> {
  readonly dueAt = new Map<string, number>();
  isAway = false;

  constructor(...ids: string[]) {
    for (const id of ids) this.dueAt.set(id, 0);
  }

  async claim({ limit, leaseMs }: { limit: number; leaseMs: number }): Promise<Job[]> {
    if (this.isAway) throw new Error("the store is away");
    const due = [...this.dueAt].filter(([, dueAt]) => dueAt <= Date.now()).slice(0, limit);
    for (const [id] of due) this.dueAt.set(id, Date.now() + leaseMs);
    return due.map(([id]) => ({ id }));
  }

  async renew({ id }: Job, leaseMs: number): Promise<boolean> {
    if (!this.dueAt.has(id)) return false;
    this.dueAt.set(id, Date.now() + leaseMs);
    return true;
  }

  async release({ id }: Job, delayMs: number): Promise<void> {
    this.dueAt.set(id, Date.now() + delayMs);
  }
}

function start(store: JobStore<Job>, run: JobRunnerOptions<Job>["run"], concurrency = 2): JobRunner<Job> {
  const timing = { leaseMs: LEASE_MS, pollMs: 1_000, retryDelayMs: () => 3_000 };
  return new JobRunner({ subject: "jobs", logger: createLogger("silent"), store, concurrency, run, ...timing });
}

/** Runs until their signal aborts. */
function endless(): { run: JobRunnerOptions<Job>["run"]; started: string[] } {
  const started: string[] = [];
  const run = ({ id }: Job, signal: AbortSignal) => {
    started.push(id);
    return new Promise<JobEnd>((end) => signal.addEventListener("abort", () => end("interrupted")));
  };
  return { run, started };
}

test("runs each job once in all runners, within the concurrency", async () => {
  const store = new MemoryStore("a", "b", "c", "d", "e");
  const runs: string[] = [];
  let running = 0;
  const run = async ({ id }: Job): Promise<JobEnd> => {
    running += 1;
    expect(running).toBeLessThanOrEqual(4);
    runs.push(id);
    await new Promise((end) => setTimeout(end, 100));
    running -= 1;
    store.dueAt.delete(id);
    return "over";
  };
  await using _one = start(store, run);
  await using _two = start(store, run);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(runs.sort()).toEqual(["a", "b", "c", "d", "e"]);
});

test("keeps the lease of a running job, and leaves it to another runner once its process is dead", async () => {
  const store = new MemoryStore("a");
  const dead = endless();
  const other = endless();
  const first = start(store, dead.run);
  await vi.advanceTimersByTimeAsync(0);
  await using _second = start(store, other.run);
  await vi.advanceTimersByTimeAsync(3 * LEASE_MS);
  expect(dead.started).toEqual(["a"]);
  expect(other.started).toEqual([]);
  // A dead process renews nothing and claims nothing.
  store.renew = async () => true;
  first.drain();
  await vi.advanceTimersByTimeAsync(LEASE_MS + 1_000);
  expect(other.started).toEqual(["a"]);
  await first.close();
});

test("aborts a run whose job another process has", async () => {
  const store = new MemoryStore("a");
  const { run } = endless();
  const ends: JobEnd[] = [];
  await using _runner = start(store, async (job, signal) => {
    const end = await run(job, signal);
    ends.push(end);
    return "over";
  });
  await vi.advanceTimersByTimeAsync(0);
  store.dueAt.delete("a");
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(ends).toEqual(["interrupted"]);
});

test("runs a job again after the delay when its run fails", async () => {
  const store = new MemoryStore("a");
  const times: number[] = [];
  const startedAt = Date.now();
  await using _runner = start(store, async ({ id }) => {
    times.push(Date.now() - startedAt);
    if (times.length === 1) throw new Error("the storage is away");
    store.dueAt.delete(id);
    return "over";
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(times).toEqual([0, expect.closeTo(3_500, -3)]);
});

test("drains: starts nothing, and gives interrupted jobs to another runner at once", async () => {
  const store = new MemoryStore("a");
  const stopping = endless();
  const first = start(store, stopping.run);
  await vi.advanceTimersByTimeAsync(0);
  first.drain();
  store.dueAt.set("b", 0);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(stopping.started).toEqual(["a"]);
  await first.close();
  const other = endless();
  await using _second = start(store, other.run);
  await vi.advanceTimersByTimeAsync(0);
  expect(other.started).toEqual(["a", "b"]);
});

test("goes on once the store is back, and runs what is added when it is woken", async () => {
  const store = new MemoryStore("a");
  store.isAway = true;
  const { run, started } = endless();
  await using runner = start(store, run);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(started).toEqual([]);
  store.isAway = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(started).toEqual(["a"]);
  store.dueAt.set("b", 0);
  runner.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual(["a", "b"]);
});
