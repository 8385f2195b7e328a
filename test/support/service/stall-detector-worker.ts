/** Runs in a thread beside the main thread: pings it, and takes its stack when it works on without an answer. */

import { readFileSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";
import type { DetectorData, Stall } from "./stall-detector.ts";

const PING_MS = 20;

const { answered, pid, limitMs } = workerData as DetectorData;
const session = new Session();
session.connectToMainThread();

/** Files by script: call frames of another thread lack them. */
const urls = new Map<string, string>();
session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));

interface Turn {
  /** Number of its ping. */
  number: number;
  /** CPU time of the main thread when it began. */
  startMs: number;
  /** Frames at half the limit: when the work is native, a stack at the limit is only of what comes after it. */
  earlier: readonly string[] | undefined;
  isReported: boolean;
}

let turn: Turn = { number: 0, startMs: 0, earlier: undefined, isReported: false };
let isPausing = false;

setInterval(() => {
  if (Atomics.load(answered, 0) === turn.number) {
    // The CPU time is read first: what passes before the ping belongs to the same turn, or to an earlier one.
    turn = { number: turn.number + 1, startMs: mainThreadMs(), earlier: undefined, isReported: false };
    parentPort?.postMessage(turn.number);
    return;
  }
  const limit = turn.earlier === undefined ? limitMs / 2 : limitMs;
  if (isPausing || turn.isReported || mainThreadMs() - turn.startMs <= limit) return;
  if (Atomics.load(answered, 0) !== turn.number) takeStack(turn);
}, PING_MS);

/** CPU time of the main thread, in nanoseconds there. */
function mainThreadMs(): number {
  return Number(readFileSync(`/proc/self/task/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

/** The debugger is on for this moment only, since it makes code slower. */
function takeStack(of: Turn): void {
  isPausing = true;
  session.once("Debugger.paused", ({ params }) => {
    const cpuMs = mainThreadMs() - of.startMs;
    const frames = params.callFrames.map(toFrame);
    session.post("Debugger.resume");
    session.post("Debugger.disable");
    isPausing = false;
    // The ping is answered by JavaScript, which would pause before: otherwise the turn has ended, and others were counted.
    if (cpuMs > limitMs && Atomics.load(answered, 0) !== of.number) {
      of.isReported = true;
      parentPort?.postMessage({ cpuMs: Math.round(cpuMs), stack: [...frames, ...(of.earlier ?? [])] } satisfies Stall);
    }
    of.earlier = frames;
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

function toFrame({ functionName, location }: Debugger.CallFrame): string {
  return `${functionName || "(anonymous)"} (${urls.get(location.scriptId)}:${location.lineNumber + 1})`;
}
