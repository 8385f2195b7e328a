import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const { signal } = new AbortController();

/** Starts tasks that run until they are ended, and records the order in which they start. */
function startTasks(queue: FairQueue) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (tenant: string, name: string, until = signal) =>
    queue.run(tenant, until, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await turn();
  };
  return { started, run, end };
}

test("takes turns between tenants", async () => {
  const { started, run, end } = startTasks(new FairQueue(1));
  for (const name of ["a1", "a2", "a3"]) void run("a", name);
  void run("b", "b1");
  void run("c", "c1");
  await turn();
  for (const name of ["a1", "a2", "b1", "c1"]) await end(name);
  expect(started).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});

test("leaves a slot that one tenant alone cannot occupy", async () => {
  const { started, run, end } = startTasks(new FairQueue(3));
  for (const name of ["a1", "a2", "a3"]) void run("a", name);
  await turn();
  expect(started).toEqual(["a1", "a2"]);
  void run("b", "b1");
  await turn();
  expect(started).toEqual(["a1", "a2", "b1"]);
  await end("a1");
  expect(started).toEqual(["a1", "a2", "b1", "a3"]);
});

test("removes an aborted task from the queue", async () => {
  const { started, run, end } = startTasks(new FairQueue(1));
  void run("a", "a1");
  const leaving = new AbortController();
  const left = run("a", "a2", leaving.signal);
  void run("a", "a3");
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await expect(run("a", "a4", leaving.signal)).rejects.toThrow("gone");
  await end("a1");
  expect(started).toEqual(["a1", "a3"]);
});

test("frees the slot of a task that fails", async () => {
  const queue = new FairQueue(1);
  await expect(queue.run("a", signal, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  await expect(queue.run("a", signal, async () => "fine")).resolves.toBe("fine");
});
