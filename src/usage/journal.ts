/** A file of lines that wait to be written elsewhere: it outlives the process, and it is empty again once all are. */

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

const READ_BYTES = 1024 ** 2;
const NEWLINE = 10;
/** Of its bound a file may hold this much that was passed already. */
const PASSED_SHARE = 1 / 16;

export class Journal {
  readonly path: string;
  readonly #maxBytes: number;
  #descriptor: number | undefined;
  #readBytes = 0;
  #writtenBytes = 0;

  /** Makes the file at the first line; one that is there already is continued. */
  constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#maxBytes = maxBytes;
    if (existsSync(path)) this.#open();
  }

  get waitingBytes(): number {
    return this.#writtenBytes - this.#readBytes;
  }

  get isEmpty(): boolean {
    return this.waitingBytes === 0;
  }

  /** False, and nothing written, when the file would grow beyond its bound. Throws what the file system throws. */
  append(line: string): boolean {
    const bytes = Buffer.from(`${line}\n`);
    // A database that is slower than lines come leaves the file never empty, although it takes them all.
    const passed = this.#readBytes;
    const isMostlyPassed = passed > this.#maxBytes * PASSED_SHARE && 2 * passed > this.#writtenBytes;
    if (isMostlyPassed || this.#isRemoved()) this.#dropPassed();
    if (this.#writtenBytes + bytes.length > this.#maxBytes) return false;
    const descriptor = this.#open();
    // In one call, so that a process that is killed leaves a whole line or, at the very end, a part that is no line.
    const written = writeSync(descriptor, bytes, 0, bytes.length, this.#writtenBytes);
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes could be written`);
    this.#writtenBytes += written;
    return true;
  }

  /** The oldest lines that `advance` has not passed yet, about a megabyte of them, or one that is longer. */
  read(mostBytes = READ_BYTES): { lines: string[]; bytes: number } {
    const descriptor = this.#descriptor;
    if (descriptor === undefined || this.isEmpty) return { lines: [], bytes: 0 };
    const buffer = Buffer.alloc(Math.min(mostBytes, this.#writtenBytes - this.#readBytes));
    const length = readSync(descriptor, buffer, 0, buffer.length, this.#readBytes);
    const end = buffer.subarray(0, length).lastIndexOf(NEWLINE) + 1;
    const isLast = this.#readBytes + length === this.#writtenBytes;
    if (end === 0 && !isLast && length === mostBytes) return this.read(2 * mostBytes);
    // What is left without an end is what a killed process did not finish.
    if (end === 0) return { lines: [], bytes: isLast ? length : 0 };
    return { lines: buffer.toString("utf8", 0, end - 1).split("\n"), bytes: isLast ? length : end };
  }

  advance(bytes: number): void {
    this.#readBytes += bytes;
    if (!this.isEmpty || this.#descriptor === undefined) return;
    ftruncateSync(this.#descriptor, 0);
    this.#readBytes = 0;
    this.#writtenBytes = 0;
  }

  /** Such as by a process on another machine with the same folder, which took a journal at rest for one left behind. */
  #isRemoved(): boolean {
    return this.#descriptor !== undefined && fstatSync(this.#descriptor).nlink === 0;
  }

  /** Puts what waits into a file of its own, which takes this one's place whole, so that a process may be killed here. */
  #dropPassed(): void {
    const old = this.#descriptor;
    if (old === undefined) return;
    const path = `${this.path}.new`;
    const rest = Buffer.alloc(this.#writtenBytes - this.#readBytes);
    let descriptor: number | undefined;
    try {
      mkdirSync(dirname(path), { recursive: true });
      descriptor = openSync(path, "w+", 0o600);
      const length = readSync(old, rest, 0, rest.length, this.#readBytes);
      if (writeSync(descriptor, rest, 0, length, 0) < rest.length) throw new Error("the disk is full");
      renameSync(path, this.path);
    } catch {
      // The old one goes on, up to its bound.
      if (descriptor !== undefined) closeSync(descriptor);
      rmSync(path, { force: true });
      return;
    }
    closeSync(old);
    this.#descriptor = descriptor;
    this.#readBytes = 0;
    this.#writtenBytes = rest.length;
  }

  /** The file goes when nothing waits in it. */
  close(): void {
    if (!this.isEmpty && this.#isRemoved()) this.#dropPassed();
    if (this.#descriptor === undefined) return;
    if (!this.isEmpty) fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (this.isEmpty) rmSync(this.path, { force: true });
  }

  #open(): number {
    if (this.#descriptor !== undefined) return this.#descriptor;
    mkdirSync(dirname(this.path), { recursive: true });
    this.#descriptor = openSync(this.path, existsSync(this.path) ? "r+" : "wx+", 0o600);
    this.#writtenBytes = fstatSync(this.#descriptor).size;
    return this.#descriptor;
  }
}
