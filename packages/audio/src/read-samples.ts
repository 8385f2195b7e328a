/** Reads samples from the standard output of a decoding process, at the consumer's pace. */

import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

export interface DecodeProcess extends ChildProcess {
  stdout: Readable;
}

/** As `spawn` of Node.js: an application that runs all its processes in one way passes its own. */
export type StartProcess = (
  program: string,
  parameters: readonly string[],
  options: { stdio: ("pipe" | "ignore")[]; env: Record<string, string | undefined> },
) => ChildProcess;

/** Decoding is many times faster than playback: a process without output for this long hangs. */
const STALL_SECONDS = 30;

/** Yields 32-bit floats in native byte order, until the process closes its output. Kills it however iteration ends. */
export async function* readSamples(child: DecodeProcess, signal: AbortSignal): AsyncGenerator<Float32Array> {
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  // Counts only while waiting for the process: a slow consumer is not a stall.
  let waitingSince: number | undefined = performance.now();
  const watchdog = setInterval(() => {
    if (waitingSince !== undefined && performance.now() - waitingSince > STALL_SECONDS * 1000) kill();
  }, 1000);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const complete = bytes.length - (bytes.length % Float32Array.BYTES_PER_ELEMENT);
      rest = bytes.subarray(complete);
      waitingSince = undefined;
      if (complete > 0) yield toSamples(bytes.subarray(0, complete));
      waitingSince = performance.now();
    }
  } finally {
    clearInterval(watchdog);
    signal.removeEventListener("abort", kill);
    kill();
  }
}

/** Copies, because a pipe's buffer is neither aligned nor exclusive. */
function toSamples(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}
