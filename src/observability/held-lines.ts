/** The way of the log's lines out of the process, which never stops the service nor keeps it from ending. */

import { write, writeSync } from "node:fs";
import { type DestinationStream, pino } from "pino";
import { toLine } from "./logger.ts";

/** Some two dozen lines: what is held is lost when the process is killed. */
const HELD_LENGTH = 15 * 1024;
const HELD_MILLISECONDS = 50;
/** In UTF-16 units: beyond it the lines of a log that nobody reads, or whose disk is full, are counted and dropped. */
const MAX_HELD_LENGTH = 1024 * 1024;
const RETRY_MILLISECONDS = 100;
/** How long a process that ends waits for who reads its log. */
const PATIENCE_MILLISECONDS = 2000;
const UNREAD = "not read in time";
const WARN = pino.levels.values.warn as number;
/** Has pino set `lastLevel` before each line. */
const WANTS_LEVEL = Symbol.for("pino.metadata");

/**
 * Holds a log's lines for a moment, since each write wakes a thread. A warning or an error takes all that is held with
 * it at once: those are what is looked for when a process was killed. What cannot be written is kept and tried again,
 * and what is then too much is dropped, which the log tells as soon as it can be written again.
 */
export function heldLines(descriptor: number): DestinationStream {
  const lines = new HeldLines(descriptor);
  process.on("exit", () => lines.writeAtExit());
  return lines;
}

/** Not pino's own destination: that ends the service when a write fails, and at its exit tries again for ever. */
class HeldLines implements DestinationStream {
  readonly [WANTS_LEVEL] = true;
  lastLevel = 0;
  readonly #descriptor: number;
  #held = "";
  #isTimed = false;
  /** Whether what is held is to follow what is being written. */
  #isDue = false;
  /** What is being written, or to be tried again. */
  #rest: Buffer | undefined;
  #isBeingWritten = false;
  #reason = UNREAD;
  #dropped = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(line: string): void {
    if (this.#held.length + line.length > MAX_HELD_LENGTH && this.#rest !== undefined) {
      this.#dropped += 1;
      return;
    }
    this.#held += line;
    if (this.lastLevel >= WARN || this.#held.length >= HELD_LENGTH) {
      this.#writeHeld();
      return;
    }
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(this.#onTime, HELD_MILLISECONDS).unref();
  }

  /** Nothing happens afterwards any more, so that this cannot be left to the event loop. */
  writeAtExit(): void {
    const until = performance.now() + PATIENCE_MILLISECONDS;
    // A thread that writes goes on until the process is gone.
    const rest = this.#isBeingWritten ? undefined : this.#rest;
    let bytes = Buffer.concat([rest ?? Buffer.alloc(0), Buffer.from(this.#held + this.#takeDropped())]);
    this.#held = "";
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#descriptor, bytes));
      } catch (failure) {
        if ((failure as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLISECONDS);
      }
    }
  }

  readonly #onTime = (): void => {
    this.#isTimed = false;
    this.#writeHeld();
  };

  #writeHeld(): void {
    this.#isDue = this.#rest !== undefined;
    if (this.#isDue || this.#held === "") return;
    this.#rest = Buffer.from(this.#held);
    this.#held = "";
    this.#writeRest();
  }

  readonly #writeRest = (): void => {
    this.#isBeingWritten = true;
    write(this.#descriptor, this.#rest as Buffer, this.#onWritten);
  };

  readonly #onWritten = (failure: NodeJS.ErrnoException | null, bytes: number): void => {
    this.#isBeingWritten = false;
    if (failure !== null) {
      this.#reason = failure.code === "EAGAIN" ? UNREAD : failure.message;
      setTimeout(this.#writeRest, RETRY_MILLISECONDS).unref();
      return;
    }
    const rest = (this.#rest as Buffer).subarray(bytes);
    this.#rest = rest.length === 0 ? undefined : rest;
    if (this.#rest !== undefined) {
      this.#writeRest();
      return;
    }
    const told = this.#takeDropped();
    this.#held += told;
    if (this.#isDue || told !== "") this.#writeHeld();
  };

  /** A line that tells of those that were dropped; empty when none was. */
  #takeDropped(): string {
    const lines = this.#dropped;
    if (lines === 0) return "";
    const reason = this.#reason;
    this.#dropped = 0;
    this.#reason = UNREAD;
    return toLine("warn", { lines, reason, msg: "lines of the log were dropped" });
  }
}
