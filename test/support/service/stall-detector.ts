/**
 * Detects that the main thread of a service works for long without a turn of its event loop, by CPU time of that thread:
 * what else the machine does has no effect. Linux only.
 */

import { executionAsyncId } from "node:async_hooks";
import { existsSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

export interface Stall {
  /** CPU time without a turn when the stack was taken. */
  cpuMs: number;
  /** Innermost frame first, as `function (file:line:column)`; then those of an earlier moment of the turn. */
  stack: readonly string[];
}

/** What the main thread says of itself while it works. */
export interface Sample {
  /** Number of the last ping that it answered. */
  answered: number;
  /** CPU time since it started. */
  cpuMs: number;
  /** What called it back, such as a timer or a socket. */
  job: number;
  stack: string[];
}

export interface DetectorData {
  /** Number of the last ping that the main thread answered. */
  answered: Int32Array;
  /** Expression of the main thread that takes a `Sample`. */
  takeSample: string;
  pid: number;
  /** CPU time without a turn beyond which a stack is taken. */
  limitMs: number;
}

const MAX_FRAMES = 50;
/** Stacks that may take longer, with the reason. */
const ALLOWED: readonly { frame: RegExp; reason: string }[] = [
  { frame: /\/node_modules\/avvio\//, reason: "registers routes, before the service listens" },
  { frame: /node:internal\/modules\//, reason: "loads a module for its first use" },
  {
    frame: /\/(engines\/scripted\/|shared\/scripted-)/,
    reason: "is a model of tests; others run in processes of their own",
  },
];

let detectors = 0;

/** Watches the main thread until `stop`. */
export function detectStalls(limitMs: number, onStall: (stall: Stall) => void): { stop(): Promise<void> } {
  if (!existsSync(scheduleFile(process.pid))) return { stop: async () => {} };
  const answered = new Int32Array(new SharedArrayBuffer(4));
  detectors += 1;
  const name = `parlanceSample${detectors}`;
  Object.assign(globalThis, { [name]: () => takeSample(answered) });
  const worker = new Worker(new URL("./stall-detector-worker.ts", import.meta.url), {
    execArgv: [],
    workerData: { answered, takeSample: `${name}()`, pid: process.pid, limitMs } satisfies DetectorData,
  });
  worker.unref();
  worker.on("message", (message: number | Stall) => {
    if (typeof message === "number") Atomics.store(answered, 0, message);
    else if (!message.stack.some((frame) => ALLOWED.some((each) => each.frame.test(frame)))) onStall(message);
  });
  return { stop: async () => void (await worker.terminate()) };
}

/** Runs in the middle of whatever the main thread does. */
function takeSample(answered: Int32Array): Sample {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MAX_FRAMES;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  const frames = stack.split("\n").filter((line) => line.startsWith("    at ") && !line.includes("at async "));
  // Those of this function and of what calls it.
  const innermost = frames.findLastIndex((frame) => frame.includes("takeSample") || frame.includes("at <anonymous>:"));
  return {
    answered: Atomics.load(answered, 0),
    cpuMs: mainThreadMs(process.pid),
    job: executionAsyncId(),
    stack: frames.slice(innermost + 1).map((frame) => frame.slice("    at ".length)),
  };
}

/** CPU time of the main thread of a process. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(scheduleFile(pid), "latin1").split(" ")[0]) / 1e6;
}

const scheduleFile = (pid: number) => `/proc/self/task/${pid}/schedstat`;
