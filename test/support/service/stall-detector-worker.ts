/** Runs in a thread beside the main thread: pings it, and takes its stack when it works on without an answer. */

import { Session } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";
import { type DetectorData, mainThreadMs, type Sample, type Stall } from "./stall-detector.ts";

const PING_MS = 20;

const { answered, takeSample, pid, limitMs } = workerData as DetectorData;
const session = new Session();
session.connectToMainThread();

interface Turn {
  /** Number of its ping. */
  number: number;
  /** CPU time of the main thread when it began. */
  startMs: number;
  /** Last sample, from half the limit on: when the work is native, a stack at the limit is only of what comes after it. */
  earlier: Sample | undefined;
  isReported: boolean;
}

let turn: Turn = { number: 0, startMs: 0, earlier: undefined, isReported: false };
let isSampling = false;

setInterval(() => {
  if (Atomics.load(answered, 0) === turn.number) {
    // The CPU time is read first: what passes before the ping belongs to the same turn, or to an earlier one.
    turn = { number: turn.number + 1, startMs: mainThreadMs(pid), earlier: undefined, isReported: false };
    parentPort?.postMessage(turn.number);
    return;
  }
  const limit = turn.earlier === undefined ? limitMs / 2 : limitMs;
  if (!isSampling && !turn.isReported && mainThreadMs(pid) - turn.startMs > limit) sample(turn);
}, PING_MS);

/** JavaScript of the main thread is interrupted for it, unlike native code. No debugger is on, which would take CPU time. */
function sample(of: Turn): void {
  isSampling = true;
  session.post("Runtime.evaluate", { expression: takeSample, returnByValue: true }, (error, answer) => {
    isSampling = false;
    if (error !== null) throw error;
    const now = answer.result.value as Sample;
    const { earlier } = of;
    // A process that was not scheduled for long has many short jobs in one turn.
    if (earlier !== undefined && earlier.job !== now.job) of.startMs = earlier.cpuMs;
    of.earlier = now;
    const cpuMs = now.cpuMs - of.startMs;
    // Otherwise the turn has ended, and others were counted.
    if (cpuMs <= limitMs || now.answered === of.number) return;
    of.isReported = true;
    const stack = [...now.stack, ...(earlier?.stack ?? [])];
    parentPort?.postMessage({ cpuMs: Math.round(cpuMs), stack } satisfies Stall);
  });
}
