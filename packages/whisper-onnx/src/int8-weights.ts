/** The weights of a graph with its matrices in int8. */

import { type FileHandle, open } from "node:fs/promises";
import { toFloats } from "@parlance-inference/onnx-graph/half-floats";
import type { StoredTensor } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { quantizeRows } from "@parlance-inference/onnx-graph/quantize-rows";
import type { QuantizedMatrix, WeightIndex } from "./ctranslate2-weights.ts";

/** Where ONNX Runtime wants tensors to start. */
const ALIGNMENT = 64;
/** Bounds the memory for values of a matrix that are being quantized. */
const BLOCK_ROWS = 256;

type Write = (file: FileHandle, data: Uint8Array) => Promise<void>;

/**
 * Tensors in the order in which a graph asks for them, in a buffer that takes the place of the model's file. `read` fills
 * the buffer when the graph is complete.
 */
export class Int8Weights implements WeightIndex {
  readonly heads: number;
  readonly #source: WeightIndex;
  readonly #max: number;
  readonly #tensors = new Map<string, StoredTensor>();
  readonly #matrices = new Map<string, QuantizedMatrix>();
  readonly #writes: Write[] = [];
  #size = 0;

  /** `max` is the largest magnitude of a quantized value. */
  constructor(source: WeightIndex, max: number) {
    this.heads = source.heads;
    this.#source = source;
    this.#max = max;
  }

  layers(stack: "encoder" | "decoder"): number {
    return this.#source.layers(stack);
  }

  tensor(name: string): StoredTensor {
    const placed = this.#tensors.get(name);
    if (placed !== undefined) return placed;
    const stored = this.#source.tensor(name);
    const { offset, bytes } = this.#place(stored.bytes);
    this.#writes.push(async (file, data) => {
      await readFully(file, data.subarray(offset, offset + bytes), stored.offset);
    });
    const tensor = { ...stored, offset };
    this.#tensors.set(name, tensor);
    return tensor;
  }

  matrix(name: string): QuantizedMatrix {
    const placed = this.#matrices.get(name);
    if (placed !== undefined) return placed;
    const stored = this.#source.tensor(name);
    const [rows = 0, columns = 0] = stored.dims;
    const matrix: QuantizedMatrix = {
      values: { dims: [columns, rows], type: "int8", ...this.#place(rows * columns) },
      scales: { dims: [rows], type: "float32", ...this.#place(4 * rows) },
    };
    this.#writes.push((file, data) => quantize(file, stored, { ...matrix, max: this.#max }, data));
    this.#matrices.set(name, matrix);
    return matrix;
  }

  /** Reads the tensors from the model's file at `path`. */
  async read(path: string): Promise<Uint8Array> {
    const data = new Uint8Array(this.#size);
    const file = await open(path);
    try {
      for (const write of this.#writes) await write(file, data);
    } finally {
      await file.close();
    }
    return data;
  }

  #place(bytes: number): { offset: number; bytes: number } {
    const offset = Math.ceil(this.#size / ALIGNMENT) * ALIGNMENT;
    this.#size = offset + bytes;
    return { offset, bytes };
  }
}

async function quantize(
  file: FileHandle,
  stored: StoredTensor,
  { values, scales, max }: QuantizedMatrix & { max: number },
  data: Uint8Array,
): Promise<void> {
  const { dims, type, offset, bytes } = stored;
  const [rows = 0, columns = 0] = dims;
  if (type === "int8") throw new TypeError("The matrix is quantized already.");
  const target = new Int8Array(data.buffer, values.offset, values.bytes);
  const allScales = new Float32Array(data.buffer, scales.offset, rows);
  const rowBytes = bytes / rows;
  const buffer = new Uint8Array(BLOCK_ROWS * rowBytes);
  for (let firstRow = 0; firstRow < rows; firstRow += BLOCK_ROWS) {
    const block = buffer.subarray(0, Math.min(BLOCK_ROWS, rows - firstRow) * rowBytes);
    await readFully(file, block, offset + firstRow * rowBytes);
    allScales.set(quantizeRows(toFloats(block, type), columns, { max, target, rows, firstRow }), firstRow);
  }
}

async function readFully(file: FileHandle, target: Uint8Array, position: number): Promise<void> {
  for (let filled = 0; filled < target.byteLength; ) {
    const { bytesRead } = await file.read(target, filled, target.byteLength - filled, position + filled);
    if (bytesRead === 0) throw new RangeError("The model's file was truncated while it was read.");
    filled += bytesRead;
  }
}
