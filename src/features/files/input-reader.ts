/**
 * Reads lines of a file, such as the input of a batch. Short ones that follow one another are read together: a store answers each read
 * slowly. A longer one has a buffer that its reader may hand to a thread.
 */

import type { ByteRange } from "./blob-store.ts";

const BLOCK_BYTES = 256 * 1024;

export class InputReader {
  readonly #read: (range: ByteRange) => Promise<AsyncIterable<Uint8Array>>;
  readonly #bytes: number;
  #block: { range: ByteRange; bytes: Promise<Buffer> } | undefined;

  /** `bytes`: size of the input. */
  constructor(bytes: number, read: (range: ByteRange) => Promise<AsyncIterable<Uint8Array>>) {
    this.#bytes = bytes;
    this.#read = read;
  }

  async line({ offset, length }: ByteRange): Promise<Buffer> {
    if (length >= BLOCK_BYTES) return this.#readBlock({ offset, length });
    const block = this.#blockOf(offset, length);
    const start = offset - block.range.offset;
    return (await block.bytes).subarray(start, start + length);
  }

  #blockOf(offset: number, length: number) {
    const current = this.#block;
    if (current !== undefined) {
      const { range } = current;
      if (offset >= range.offset && offset + length <= range.offset + range.length) return current;
    }
    const range = { offset, length: Math.min(BLOCK_BYTES, this.#bytes - offset) };
    const block = { range, bytes: this.#readBlock(range) };
    this.#block = block;
    block.bytes.catch(() => {
      // Read again by the next line.
      if (this.#block === block) this.#block = undefined;
    });
    return block;
  }

  async #readBlock(range: ByteRange): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(await this.#read(range)));
  }
}
