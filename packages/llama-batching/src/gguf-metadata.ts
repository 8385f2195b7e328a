/** Reads the metadata at the beginning of a GGUF file without loading it. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */

import { open } from "node:fs/promises";

/** Numbers and texts; of arrays, those of numbers before the vocabulary. */
export type GgufMetadata = ReadonlyMap<string, number | string | readonly number[]>;

/** The hyperparameters are before the vocabulary, within the first kilobytes. */
const MAX_BYTES = 1024 * 1024;
const MAX_ARRAY = 4096;
const VOCABULARY = "tokenizer.ggml.tokens";
export const VOCABULARY_SIZE = `${VOCABULARY}.length`;

const STRING = 8;
const ARRAY = 9;
/** Readers of numbers by the type's ID. */
const NUMBERS: Readonly<Record<number, readonly [bytes: number, read: (view: DataView, offset: number) => number]>> = {
  0: [1, (view, offset) => view.getUint8(offset)],
  1: [1, (view, offset) => view.getInt8(offset)],
  2: [2, (view, offset) => view.getUint16(offset, true)],
  3: [2, (view, offset) => view.getInt16(offset, true)],
  4: [4, (view, offset) => view.getUint32(offset, true)],
  5: [4, (view, offset) => view.getInt32(offset, true)],
  6: [4, (view, offset) => view.getFloat32(offset, true)],
  7: [1, (view, offset) => view.getUint8(offset)],
  10: [8, (view, offset) => Number(view.getBigUint64(offset, true))],
  11: [8, (view, offset) => Number(view.getBigInt64(offset, true))],
  12: [8, (view, offset) => view.getFloat64(offset, true)],
};

/** Reads up to the vocabulary, whose length is `VOCABULARY_SIZE`. Throws for a file of another format. */
export async function readGgufMetadata(path: string): Promise<GgufMetadata> {
  const bytes = await readBeginning(path);
  if (bytes.toString("latin1", 0, 4) !== "GGUF") throw new Error(`${path} is not a GGUF file`);
  const reader = new Reader(bytes);
  const count = reader.countAt(16);
  const metadata = new Map<string, number | string | readonly number[]>();
  try {
    for (let index = 0; index < count; index += 1) {
      const key = reader.text();
      const value = reader.value(reader.number(4), key === VOCABULARY);
      metadata.set(key === VOCABULARY ? VOCABULARY_SIZE : key, value);
      if (key === VOCABULARY) break;
    }
  } catch (failure) {
    // The rest is beyond what was read.
    if (!(failure instanceof RangeError)) throw failure;
  }
  return metadata;
}

async function readBeginning(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Throws a RangeError at the end of the bytes. */
class Reader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #offset = 24;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  countAt(offset: number): number {
    return Number(this.#view.getBigUint64(offset, true));
  }

  number(type: number): number {
    const reader = NUMBERS[type];
    if (reader === undefined) throw new RangeError("The type of a value has no reader");
    const value = reader[1](this.#view, this.#offset);
    this.#offset += reader[0];
    return value;
  }

  text(): string {
    const length = this.number(10);
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new RangeError("A text ends beyond the bytes");
    const text = this.#bytes.toString("utf8", this.#offset, end);
    this.#offset = end;
    return text;
  }

  /** `isCounted`: of an array, its length is read and nothing else. */
  value(type: number, isCounted: boolean): number | string | readonly number[] {
    if (type === STRING) return this.text();
    if (type !== ARRAY) return this.number(type);
    const itemType = this.number(4);
    const length = this.number(10);
    if (isCounted) return length;
    if (length > MAX_ARRAY) throw new RangeError("An array is too long");
    const items = Array.from({ length }, () => (itemType === STRING ? this.text() : this.number(itemType)));
    return items.filter((item) => typeof item === "number");
  }
}
