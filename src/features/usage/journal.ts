/** Write-ahead file of lines that survives the process and is truncated once all lines are written elsewhere. */

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
/** Part of the maximum size that lines before the read position may occupy before compaction. */
const CONSUMED_SHARE = 1 / 16;

export class Journal {
  readonly path: string;
  readonly #maxBytes: number;
  #descriptor: number | undefined;
  #readBytes = 0;
  #writtenBytes = 0;

  /** Creates the file with the first line, or appends to an existing one. */
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

  /** Returns false and writes nothing when the file would exceed its maximum. Throws file system errors. */
  append(line: string): boolean {
    const bytes = Buffer.from(`${line}\n`);
    // With a slow database the file is never empty, although every line gets written eventually.
    const consumed = this.#readBytes;
    const isMostlyConsumed = consumed > this.#maxBytes * CONSUMED_SHARE && 2 * consumed > this.#writtenBytes;
    if (isMostlyConsumed || this.#isRemoved()) this.#compact();
    if (this.#writtenBytes + bytes.length > this.#maxBytes) return false;
    const descriptor = this.#open();
    // A single write: a killed process leaves complete lines and at most one truncated line at the end.
    const written = writeSync(descriptor, bytes, 0, bytes.length, this.#writtenBytes);
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes could be written`);
    this.#writtenBytes += written;
    return true;
  }

  /** Reads the oldest lines after the read position, about a megabyte, or one longer line. */
  read(maxBytes = READ_BYTES): { lines: string[]; bytes: number } {
    const descriptor = this.#descriptor;
    if (descriptor === undefined || this.isEmpty) return { lines: [], bytes: 0 };
    const buffer = Buffer.alloc(Math.min(maxBytes, this.#writtenBytes - this.#readBytes));
    const length = readSync(descriptor, buffer, 0, buffer.length, this.#readBytes);
    const end = buffer.subarray(0, length).lastIndexOf(NEWLINE) + 1;
    const isLast = this.#readBytes + length === this.#writtenBytes;
    if (end === 0 && !isLast && length === maxBytes) return this.read(2 * maxBytes);
    // A rest without a newline is a line that a killed process did not finish.
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

  /** True when another machine with the same folder removed it as orphaned. */
  #isRemoved(): boolean {
    return this.#descriptor !== undefined && fstatSync(this.#descriptor).nlink === 0;
  }

  /** Copies the unread lines to a new file and renames it over this one, which is atomic if the process is killed. */
  #compact(): void {
    const old = this.#descriptor;
    if (old === undefined) return;
    const path = `${this.path}.new`;
    const rest = Buffer.alloc(this.#writtenBytes - this.#readBytes);
    let descriptor: number | undefined;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      descriptor = openSync(path, "w+", 0o600);
      const length = readSync(old, rest, 0, rest.length, this.#readBytes);
      if (writeSync(descriptor, rest, 0, length, 0) < rest.length) throw new Error("the disk is full");
      renameSync(path, this.path);
    } catch {
      // Keep the old file, up to its maximum size.
      if (descriptor !== undefined) closeSync(descriptor);
      rmSync(path, { force: true });
      return;
    }
    closeSync(old);
    this.#descriptor = descriptor;
    this.#readBytes = 0;
    this.#writtenBytes = rest.length;
  }

  /** Removes the file when it is empty. */
  close(): void {
    if (!this.isEmpty && this.#isRemoved()) this.#compact();
    if (this.#descriptor === undefined) return;
    if (!this.isEmpty) fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (this.isEmpty) rmSync(this.path, { force: true });
  }

  #open(): number {
    if (this.#descriptor !== undefined) return this.#descriptor;
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    this.#descriptor = openSync(this.path, existsSync(this.path) ? "r+" : "wx+", 0o600);
    this.#writtenBytes = fstatSync(this.#descriptor).size;
    return this.#descriptor;
  }
}
