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

let ping = { number: 0, cpuMs: 0, isReported: false };

setInterval(() => {
  if (Atomics.load(answered, 0) === ping.number) {
    // The CPU time is read first: what passes before the ping belongs to the same turn, or to an earlier one.
    ping = { number: ping.number + 1, cpuMs: mainThreadMs(), isReported: false };
    parentPort?.postMessage(ping.number);
    return;
  }
  const cpuMs = mainThreadMs() - ping.cpuMs;
  if (ping.isReported || cpuMs <= limitMs || Atomics.load(answered, 0) === ping.number) return;
  ping.isReported = true;
  takeStack(cpuMs);
}, PING_MS);

/** CPU time of the main thread, in nanoseconds there. */
function mainThreadMs(): number {
  return Number(readFileSync(`/proc/self/task/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

/** The debugger is on for this moment only, since it makes code slower. */
function takeStack(cpuMs: number): void {
  session.once("Debugger.paused", ({ params }) => {
    const stall: Stall = { cpuMs: Math.round(cpuMs), stack: params.callFrames.map(toFrame) };
    session.post("Debugger.resume");
    session.post("Debugger.disable");
    parentPort?.postMessage(stall);
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

function toFrame({ functionName, location }: Debugger.CallFrame): string {
  return `${functionName || "(anonymous)"} (${urls.get(location.scriptId)}:${location.lineNumber + 1})`;
}
