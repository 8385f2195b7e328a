/**
 * Entry of a process that decodes one file and exits, so that a hostile file can break no other process.
 * Reads the options from standard input as one line of JSON, writes samples to standard output, and to descriptor 3 how
 * it ended.
 */

import { closeSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { AudioError, type AudioErrorCode } from "./audio-error.ts";
import { type DecodeOptions, decodeFile } from "./decode-file.ts";

const [OUTPUT, REPORT_DESCRIPTOR] = [1, 3];
/** WebAssembly's memory and buffers are outside the heap that V8 limits. */
const MAX_MEMORY_BYTES = 768 * 1024 ** 2;

export type DecodeReport = { isComplete: true } | DecodeErrorReport;

interface DecodeErrorReport {
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
    end({ isComplete: true });
  } catch (error) {
    const code = error instanceof AudioError ? error.code : undefined;
    end({ code, message: error instanceof AudioError ? error.message : String(error) });
  }
}

/** Closes the pipes first: Node.js can hang while it exits (nodejs/node#54918), and the reader need not wait for that. */
function end(report: DecodeReport): void {
  writeSync(REPORT_DESCRIPTOR, JSON.stringify(report));
  closeSync(REPORT_DESCRIPTOR);
  closeSync(OUTPUT);
  process.exit();
}

function write(samples: Float32Array): Promise<void> {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return new Promise((resolve, reject) => {
    // Waits until the bytes have left: the pipe's reader sets the pace.
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
