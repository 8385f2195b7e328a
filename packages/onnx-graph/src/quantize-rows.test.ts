import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { OnnxGraphBuilder } from "./onnx-graph-builder.ts";
import { MAX_QUANTIZED, quantizeRows } from "./quantize-rows.ts";

test("writes rounded rows as columns and returns their scales", () => {
  const target = new Int8Array(12);
  const values = Float32Array.of(63, -63, 0, 31.4, -31.6, 0.2);
  expect([...quantizeRows(values, 3, { max: MAX_QUANTIZED.overflowing, target, rows: 4, firstRow: 1 })]).toEqual([
    1,
    Math.fround(31.6 / 63),
  ]);
  // Rows of the target: the columns 0 to 2 of four rows, of which the second and third were written.
  expect([...target]).toEqual([0, 63, 63, 0, 0, -63, -63, 0, 0, 0, 0, 0]);
});

test("keeps a row of zeros", () => {
  const target = new Int8Array(2).fill(5);
  expect([
    ...quantizeRows(new Float32Array(2), 2, { max: MAX_QUANTIZED.overflowing, target, rows: 1, firstRow: 0 }),
  ]).toEqual([1]);
  expect([...target]).toEqual([0, 0]);
});

/** Products of the quantized matrix and of the matrix, for inputs of the same sign, whose products add up the most. */
test("uses all eight bits where they do not overflow", () => {
  const target = new Int8Array(2);
  const max = MAX_QUANTIZED.exact;
  quantizeRows(Float32Array.of(-2, 1), 2, { max, target, rows: 1, firstRow: 0 });
  expect([...target]).toEqual([-127, 64]);
});

test("does not overflow in ONNX Runtime's products of bytes", async () => {
  const [rows, columns] = [32, 256];
  const values = Float32Array.from({ length: rows * columns }, (_, index) => (index % 7 === 0 ? 1 : 0.98));
  const input = Float32Array.from({ length: columns }, (_, index) => 1 - (index % 3) / 100);
  const target = new Int8Array(values.length);
  const scales = quantizeRows(values, columns, { max: MAX_QUANTIZED.overflowing, target, rows, firstRow: 0 });
  const graph = new OnnxGraphBuilder("product", "weights");
  const matrix = graph.stored({ dims: [columns, rows], type: "int8", offset: 0, bytes: target.length });
  const inputs = [graph.input("input", "float32", [1, columns]), matrix, graph.floats(scales, [rows])];
  graph.output(graph.node("com.microsoft.DynamicQuantizeMatMul", inputs), "product");
  const data = new Uint8Array(target.buffer);
  const session = await InferenceSession.create(graph.toBytes(), { externalData: [{ path: "weights", data }] });
  const { product } = await session.run({ input: new Tensor("float32", input, [1, columns]) });
  await session.release();
  const products = product?.data as Float32Array;
  for (let row = 0; row < rows; row += 1) {
    const exact = input.reduce((sum, value, column) => sum + value * (values[row * columns + column] ?? 0), 0);
    expect(Math.abs((products[row] ?? 0) / exact - 1)).toBeLessThan(0.02);
  }
});
