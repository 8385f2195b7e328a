import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { afterThreadCpu } from "./thread-timeout.ts";

function thread(script: string): Worker {
  const worker = new Worker(script, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  return worker;
}

test("ends a thread that has used its CPU time, not one that waits", async () => {
  const waiting = thread("setInterval(() => {}, 1000)");
  let isEnded = false;
  using _ = afterThreadCpu(waiting, 200, () => {
    isEnded = true;
  });
  const working = thread("for (;;);");
  await new Promise<void>((done) => {
    afterThreadCpu(working, 300, done);
  });
  const { user, system } = await working.cpuUsage();
  expect((user + system) / 1000).toBeGreaterThanOrEqual(300);
  expect(isEnded).toBe(false);
});

test("ends a thread that had not started when it was first asked", async () => {
  const worker = thread("for (;;);");
  await expect(worker.cpuUsage()).rejects.toThrow("not running");
  await new Promise<void>((done) => {
    afterThreadCpu(worker, 1, done);
  });
});

test("does not end a thread once it is disposed of, or that has ended", async () => {
  const working = thread("for (;;);");
  let ended = 0;
  afterThreadCpu(working, 1, () => (ended += 1))[Symbol.dispose]();
  const over = thread("");
  await new Promise((done) => over.once("exit", done));
  afterThreadCpu(over, 1, () => (ended += 1));
  // Later than the others would have been.
  await new Promise<void>((done) => {
    afterThreadCpu(working, 50, done);
  });
  expect(ended).toBe(0);
});
