/**
 * Entry of a process that decodes one file and ends: what a hostile file can break is this process alone.
 * Standard input brings the order as one line of JSON, standard output takes the samples, descriptor 3 the failure.
 */

import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Fault } from "../faults.ts";
import { type DecodeOrder, decodeFile } from "./decode-file.ts";
import { UnreadableFile } from "./unreadable-file.ts";

const FAILURE_DESCRIPTOR = 3;
/** WebAssembly's memory and buffers are outside the heap that V8 bounds. */
const MAX_MEMORY_BYTES = 768 * 1024 ** 2;

export interface DecodeFailure {
  /** Undefined for what is no Fault. */
  kind: Fault["kind"] | undefined;
  message: string;
  param: string | undefined;
  code: string | undefined;
  /** Whether another decoder may read the file. */
  isUnreadable: boolean;
}

const lines = createInterface({ input: process.stdin });
lines.once("line", (line) => void decode(JSON.parse(line)));
// The service is gone, and nobody wants the samples.
process.stdin.once("end", () => process.exit(1));
process.stdout.on("error", () => process.exit(1));

async function decode(order: DecodeOrder): Promise<void> {
  try {
    for await (const samples of decodeFile(order)) {
      if (process.memoryUsage.rss() > MAX_MEMORY_BYTES) throw new Error("Decoding took too much memory.");
      if (samples.length > 0) await write(samples);
    }
    process.stdout.end(() => process.exit(0));
  } catch (error) {
    const { kind, message, param, code } =
      error instanceof Fault ? error : { kind: undefined, message: String(error), param: undefined, code: undefined };
    const told: DecodeFailure = { kind, message, param, code, isUnreadable: error instanceof UnreadableFile };
    const failure = createWriteStream("", { fd: FAILURE_DESCRIPTOR });
    failure.end(JSON.stringify(told), () => process.exit(1));
  }
}

function write(samples: Float32Array): Promise<void> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return new Promise((resolve, reject) => {
    // Waits until the bytes have left: the pipe's reader sets the pace.
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
