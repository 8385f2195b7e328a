import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { afterRunnable } from "./runnable-timeout.ts";

function program(script: string): number | undefined {
  const child = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child.pid;
}

const ended = (pid: number | undefined, ms: number) =>
  new Promise<void>((done) => {
    afterRunnable(pid, ms, done);
  });

test("ends a process that waits, and one that does not exist", async () => {
  await ended(program("setInterval(() => {}, 1000)"), 50);
  await ended(undefined, 1);
});

test.skipIf(process.platform !== "linux")("gives a process the time in which others had the cores", async () => {
  const loop = "for (;;);";
  for (let index = 0; index < 3 * availableParallelism(); index += 1) program(loop);
  const pid = program(loop);
  const beganAt = performance.now();
  await ended(pid, 500);
  const [, starved = "0"] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
  expect(performance.now() - beganAt).toBeGreaterThan(500 + 0.5 * (Number(starved) / 1e6));
  expect(Number(starved) / 1e6).toBeGreaterThan(500);
});

test("does not end a process once it is disposed of", async () => {
  let isEnded = false;
  afterRunnable(process.pid, 1, () => {
    isEnded = true;
  })[Symbol.dispose]();
  await ended(undefined, 20);
  expect(isEnded).toBe(false);
});
