import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ElementType, StoredTensor } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WeightIndex } from "./ctranslate2-weights.ts";
import { Int8Weights } from "./int8-weights.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "whisper-int8-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Values of a matrix, distinct in each row and column. */
const valueAt = (row: number, column: number) => Math.sin(7 * row + 3 * column) * (1 + row);

/** Writes a file with `rows` x `columns` values of float32 after three bytes, and then a tensor of four bytes. */
async function fileOf(rows: number, columns: number): Promise<{ path: string; source: WeightIndex }> {
  const path = join(folder, "model.bin");
  const values = Float32Array.from({ length: rows * columns }, (_, index) =>
    valueAt(Math.floor(index / columns), index % columns),
  );
  await writeFile(path, Buffer.concat([Buffer.of(9, 9, 9), Buffer.from(values.buffer), Buffer.of(1, 2, 3, 4)]));
  const tensor = (dims: readonly number[], type: ElementType, offset: number, bytes: number): StoredTensor => ({
    dims,
    type,
    offset,
    bytes,
  });
  const bytes = values.byteLength;
  const tensors: Record<string, StoredTensor> = {
    matrix: tensor([rows, columns], "float32", 3, bytes),
    bias: tensor([2], "float16", 3 + bytes, 4),
  };
  const source: WeightIndex = { heads: 8, layers: () => 6, tensor: (name) => tensors[name] as StoredTensor };
  return { path, source };
}

// More rows than are read at a time.
test.each([5, 600])(
  "puts the quantized columns of %i rows and other tensors where the graph reads them",
  async (rows) => {
    const columns = 4;
    const { path, source } = await fileOf(rows, columns);
    const weights = new Int8Weights(source, 127);
    const bias = weights.tensor("bias");
    const { values, scales } = weights.matrix("matrix");
    expect(weights.tensor("bias")).toEqual(bias);
    expect(weights.matrix("matrix").values).toEqual(values);
    expect({ heads: weights.heads, layers: weights.layers("encoder") }).toEqual({ heads: 8, layers: 6 });
    expect(values).toMatchObject({ dims: [columns, rows], type: "int8", bytes: columns * rows });
    expect(scales).toMatchObject({ dims: [rows], type: "float32", bytes: 4 * rows });
    const data = await weights.read(path);
    expect([...data.subarray(bias.offset, bias.offset + bias.bytes)]).toEqual([1, 2, 3, 4]);
    const quantized = new Int8Array(data.buffer, values.offset, values.bytes);
    const rowScales = new Float32Array(data.buffer, scales.offset, rows);
    for (let row = 0; row < rows; row += 1) {
      const scale = rowScales[row] ?? 0;
      for (let column = 0; column < columns; column += 1) {
        const restored = (quantized[column * rows + row] ?? 0) * scale;
        expect(Math.abs(restored - valueAt(row, column))).toBeLessThanOrEqual(scale / 2 + 1e-6);
      }
    }
  },
);

test("rejects a file that became shorter than its index", async () => {
  const { path, source } = await fileOf(300, 4);
  await truncate(path, 100);
  const weights = new Int8Weights(source, 127);
  weights.matrix("matrix");
  await expect(weights.read(path)).rejects.toThrow("truncated");
});
