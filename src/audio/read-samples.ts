/** Samples from the standard output of a process that decodes, at the pace at which they are read. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

export interface DecodeProcess extends ChildProcess {
  stdout: Readable;
}

/** Decoding is many times faster than the audio: who gives nothing for so long hangs. */
const STALL_SECONDS = 30;

/** 32-bit floats of this machine. The process is gone when this ends, however it ends; what it came to shows then. */
export async function* readSamples(child: DecodeProcess, signal: AbortSignal): AsyncGenerator<Float32Array> {
  const end = () => child.kill("SIGKILL");
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  // Only while this side waits: a reader may take its time.
  let waitingSince: number | undefined = performance.now();
  const watchdog = setInterval(() => {
    if (waitingSince !== undefined && performance.now() - waitingSince > STALL_SECONDS * 1000) end();
  }, 1000);
  const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const ended = isRunning ? once(child, "exit") : Promise.resolve();
  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % Float32Array.BYTES_PER_ELEMENT);
      rest = bytes.subarray(whole);
      waitingSince = undefined;
      if (whole > 0) yield toSamples(bytes.subarray(0, whole));
      waitingSince = performance.now();
    }
    await ended;
  } finally {
    clearInterval(watchdog);
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Aligned and of its own, for views on a pipe's buffer are neither. */
function toSamples(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}
