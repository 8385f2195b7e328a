import { AudioError } from "./audio-error.ts";

/** Reads bits from the most significant one on. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.#position = position;
  }

  /** Returns up to 32 bits as an unsigned number. Throws an AudioError after the end. */
  read(count: number): number {
    if (this.#position + count > this.#bytes.length * 8) {
      throw new AudioError("unreadable", "A packet of the file's audio is cut off.");
    }
    let value = 0;
    for (let remaining = count; remaining > 0; ) {
      const offset = this.#position & 7;
      const width = Math.min(8 - offset, remaining);
      const byte = this.#bytes[this.#position >> 3] as number;
      value = value * 2 ** width + ((byte >> (8 - offset - width)) & ((1 << width) - 1));
      this.#position += width;
      remaining -= width;
    }
    return value;
  }

  skip(count: number): void {
    this.#position += count;
  }

  /** Continues at the next byte. */
  align(): void {
    this.#position = (this.#position + 7) & ~7;
  }

  /** Returns a second reader at this position. */
  fork(): BitReader {
    return new BitReader(this.#bytes, this.#position);
  }
}
