/**
 * Entry of a process that decodes one file and exits, so that a hostile file can break no other process.
 * Reads the options from standard input as one line of JSON, writes samples to standard output and the error to
 * descriptor 3.
 */

import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { AudioError, type AudioErrorCode } from "./audio-error.ts";
import { type DecodeOptions, decodeFile } from "./decode-file.ts";

const ERROR_DESCRIPTOR = 3;
/** WebAssembly's memory and buffers are outside the heap that V8 limits. */
const MAX_MEMORY_BYTES = 768 * 1024 ** 2;

export interface DecodeErrorReport {
  /** Undefined for an unexpected error. */
  code: AudioErrorCode | undefined;
  message: string;
}

const lines = createInterface({ input: process.stdin });
lines.once("line", (line) => void decode(JSON.parse(line)));
// The parent process has ended, so nothing reads the samples.
process.stdin.once("end", () => process.exit(1));
process.stdout.on("error", () => process.exit(1));

async function decode(options: DecodeOptions): Promise<void> {
  try {
    for await (const samples of decodeFile(options)) {
      if (process.memoryUsage.rss() > MAX_MEMORY_BYTES) throw new Error("Decoding took too much memory.");
      if (samples.length > 0) await write(samples);
    }
    process.stdout.end(() => process.exit(0));
  } catch (error) {
    const report: DecodeErrorReport =
      error instanceof AudioError
        ? { code: error.code, message: error.message }
        : { code: undefined, message: String(error) };
    createWriteStream("", { fd: ERROR_DESCRIPTOR }).end(JSON.stringify(report), () => process.exit(1));
  }
}

function write(samples: Float32Array): Promise<void> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return new Promise((resolve, reject) => {
    // Waits until the bytes have left: the pipe's reader sets the pace.
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
