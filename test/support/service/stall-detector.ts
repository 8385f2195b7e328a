/**
 * Detects that the main thread of a service works for long without a turn of its event loop, by CPU time of that thread:
 * what else the machine does has no effect. Linux only.
 */

import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";

export interface Stall {
  /** CPU time without a turn when the stack was taken. */
  cpuMs: number;
  /** Innermost frame first, as `function (file:line)`; then those of the same turn at half the limit. */
  stack: readonly string[];
}

export interface DetectorData {
  /** Number of the last ping that the main thread answered. */
  answered: Int32Array;
  pid: number;
  /** CPU time without a turn beyond which a stack is taken. */
  limitMs: number;
}

/** Stacks that may take longer, with the reason. */
const ALLOWED: readonly { frame: RegExp; reason: string }[] = [
  { frame: /\/node_modules\/avvio\//, reason: "registers routes, before the service listens" },
  { frame: /node:internal\/modules\//, reason: "loads a module for its first use" },
  {
    frame: /\/(engines\/scripted\/|shared\/scripted-)/,
    reason: "is a model of tests; others run in processes of their own",
  },
];

/** Watches the main thread until `stop`. */
export function detectStalls(limitMs: number, onStall: (stall: Stall) => void): { stop(): Promise<void> } {
  if (!existsSync(`/proc/self/task/${process.pid}/schedstat`)) return { stop: async () => {} };
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("./stall-detector-worker.ts", import.meta.url), {
    execArgv: [],
    workerData: { answered, pid: process.pid, limitMs } satisfies DetectorData,
  });
  worker.unref();
  worker.on("message", (message: number | Stall) => {
    if (typeof message === "number") Atomics.store(answered, 0, message);
    else if (!message.stack.some((frame) => ALLOWED.some((each) => each.frame.test(frame)))) onStall(message);
  });
  return { stop: async () => void (await worker.terminate()) };
}
