/** The harness fails a test whose service works for long without a turn. */

import { runInThisContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { detectStalls, type Stall } from "../support/service/stall-detector.ts";

const stalls: Stall[] = [];
const detector = detectStalls(100, (stall) => stalls.push(stall));
afterAll(() => detector.stop());

function burnCpu(milliseconds: number): void {
  const usage = process.threadCpuUsage();
  for (let spent = 0; spent < milliseconds; ) {
    const { user, system } = process.threadCpuUsage(usage);
    spent = (user + system) / 1000;
  }
}

test("takes the stack of a thread that works without a turn", async () => {
  await eventually(() => {
    burnCpu(400);
    expect(stalls.flatMap(({ stack }) => stack)).toContainEqual(
      expect.stringMatching(/^burnCpu .*stall-detector.test/),
    );
  });
  expect(stalls[0]?.cpuMs).toBeGreaterThanOrEqual(100);
});

test("reports nothing of work in parts", async () => {
  await new Promise(setImmediate);
  stalls.length = 0;
  for (let part = 0; part < 20; part += 1) {
    burnCpu(30);
    await new Promise(setImmediate);
  }
  expect(stalls).toEqual([]);
});

test("reports nothing of many short jobs in one turn, as after a time without a core", async () => {
  await new Promise(setImmediate);
  stalls.length = 0;
  const jobs = Array.from(
    { length: 20 },
    () => new Promise<void>((resolve) => setImmediate(() => resolve(burnCpu(30)))),
  );
  await Promise.all(jobs);
  await new Promise(setImmediate);
  expect(stalls).toEqual([]);
});

test("allows a turn whose first half may take longer", async () => {
  const reported: Stall[] = [];
  const other = detectStalls(1000, (stall) => reported.push(stall));
  const untilReported = () =>
    eventually(() => {
      burnCpu(1200);
      expect(reported).not.toEqual([]);
    });
  const turns = async () => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resume) => setImmediate(resume));
  };
  await untilReported();
  await turns();
  reported.length = 0;
  const allowed = runInThisContext("(work) => work()", { filename: "/parlance/src/engines/scripted/some.ts" });
  const workOn = () => burnCpu(400);
  allowed(() => burnCpu(900));
  workOn();
  await turns();
  // A report of a later turn: that of the allowed one would be there before.
  await untilReported();
  expect(reported.flatMap(({ stack }) => stack).join()).not.toContain("workOn");
  await other.stop();
});
