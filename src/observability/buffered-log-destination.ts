/** Log destination that neither blocks the service nor keeps the process from exiting. */

import { write, writeSync } from "node:fs";
import { type DestinationStream, pino } from "pino";
import { toLine } from "../kernel/logger.ts";

/** About two dozen lines: buffered lines are lost when the process is killed. */
const FLUSH_LENGTH = 15 * 1024;
const FLUSH_INTERVAL_MS = 50;
/** In UTF-16 code units. Beyond it, lines are dropped and counted while the output blocks or the disk is full. */
const MAX_BUFFER_LENGTH = 1024 * 1024;
const RETRY_INTERVAL_MS = 100;
/** Maximum delay of the process's exit while the output blocks. */
const EXIT_TIMEOUT_MS = 2000;
const NOT_READ_IN_TIME = "not read in time";
const WARN = pino.levels.values.warn as number;
/** Makes pino set `lastLevel` before each line. */
const PINO_METADATA = Symbol.for("pino.metadata");

/**
 * Buffers lines for up to 50 ms, since each write wakes a thread. Warnings and errors flush the buffer at once, since
 * they explain why a process was killed. Failed writes are retried; when the buffer is full, lines are dropped and their
 * count is logged with the next successful write.
 */
export function bufferedLogDestination(descriptor: number): DestinationStream {
  const lines = new BufferedLogDestination(descriptor);
  process.on("exit", () => lines.writeAtExit());
  return lines;
}

/** Replaces pino's SonicBoom, which ends the process when a write fails and retries at exit without a limit. */
class BufferedLogDestination implements DestinationStream {
  readonly [PINO_METADATA] = true;
  lastLevel = 0;
  readonly #descriptor: number;
  #buffered = "";
  #isFlushScheduled = false;
  /** Whether to flush the buffer after the current write. */
  #isFlushPending = false;
  /** Bytes being written or waiting for a retry. */
  #writing: Buffer | undefined;
  #isWriteActive = false;
  #dropReason = NOT_READ_IN_TIME;
  #droppedLines = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(line: string): void {
    if (this.#buffered.length + line.length > MAX_BUFFER_LENGTH && this.#writing !== undefined) {
      this.#droppedLines += 1;
      return;
    }
    this.#buffered += line;
    if (this.lastLevel >= WARN || this.#buffered.length >= FLUSH_LENGTH) {
      this.#flush();
      return;
    }
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setTimeout(this.#onFlushTimer, FLUSH_INTERVAL_MS).unref();
  }

  /** Writes synchronously, since the event loop no longer runs. */
  writeAtExit(): void {
    const until = performance.now() + EXIT_TIMEOUT_MS;
    // A write on libuv's thread pool continues until the process is gone.
    const rest = this.#isWriteActive ? undefined : this.#writing;
    let bytes = Buffer.concat([rest ?? Buffer.alloc(0), Buffer.from(this.#buffered + this.#takeDropReport())]);
    this.#buffered = "";
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#descriptor, bytes));
      } catch (failure) {
        if ((failure as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_INTERVAL_MS);
      }
    }
  }

  readonly #onFlushTimer = (): void => {
    this.#isFlushScheduled = false;
    this.#flush();
  };

  #flush(): void {
    this.#isFlushPending = this.#writing !== undefined;
    if (this.#isFlushPending || this.#buffered === "") return;
    this.#writing = Buffer.from(this.#buffered);
    this.#buffered = "";
    this.#writeNext();
  }

  readonly #writeNext = (): void => {
    this.#isWriteActive = true;
    write(this.#descriptor, this.#writing as Buffer, this.#onWritten);
  };

  readonly #onWritten = (failure: NodeJS.ErrnoException | null, bytes: number): void => {
    this.#isWriteActive = false;
    if (failure !== null) {
      this.#dropReason = failure.code === "EAGAIN" ? NOT_READ_IN_TIME : failure.message;
      setTimeout(this.#writeNext, RETRY_INTERVAL_MS).unref();
      return;
    }
    const rest = (this.#writing as Buffer).subarray(bytes);
    this.#writing = rest.length === 0 ? undefined : rest;
    if (this.#writing !== undefined) {
      this.#writeNext();
      return;
    }
    const report = this.#takeDropReport();
    this.#buffered += report;
    if (this.#isFlushPending || report !== "") this.#flush();
  };

  /** Log line with the number of dropped lines; empty if no lines were dropped. */
  #takeDropReport(): string {
    const lines = this.#droppedLines;
    if (lines === 0) return "";
    const reason = this.#dropReason;
    this.#droppedLines = 0;
    this.#dropReason = NOT_READ_IN_TIME;
    return toLine("warn", { lines, reason, msg: "log lines were dropped" });
  }
}
