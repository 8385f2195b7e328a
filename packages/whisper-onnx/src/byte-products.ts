/** Tells how ONNX Runtime multiplies bytes on this processor. */

import { OnnxGraphBuilder } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { InferenceSession, Tensor } from "onnxruntime-node";

const FILE = "bytes";
/** Pairs of products, which overflow 16 bits, and the rows of an ordinary matrix. */
const COLUMNS = 64;
const ROWS = 16;
const MAX_BYTE = 127;

let result: Promise<boolean> | undefined;

/**
 * False where sums of two products of eight bits overflow: on x86 without VNNI instructions, for the fast kernel of unsigned
 * times signed bytes.
 */
export function areByteProductsExact(): Promise<boolean> {
  result ??= multiplyLargest();
  return result;
}

async function multiplyLargest(): Promise<boolean> {
  const graph = new OnnxGraphBuilder("byte-products", FILE);
  const matrix = graph.stored({ dims: [COLUMNS, ROWS], type: "int8", offset: 0, bytes: COLUMNS * ROWS });
  const scales = graph.floats(new Float32Array(ROWS).fill(1), [ROWS]);
  const inputs = [graph.input("input", "float32", [1, COLUMNS]), matrix, scales];
  graph.output(graph.node("com.microsoft.DynamicQuantizeMatMul", inputs), "product");
  const data = new Uint8Array(COLUMNS * ROWS).fill(MAX_BYTE);
  const session = await InferenceSession.create(graph.toBytes(), { externalData: [{ path: FILE, data }] });
  try {
    const input = new Tensor("float32", new Float32Array(COLUMNS).fill(1), [1, COLUMNS]);
    const { product } = (await session.run({ input })) as { product: Tensor };
    const exact = COLUMNS * MAX_BYTE;
    return [...(product.data as Float32Array)].every((value) => Math.abs(value - exact) < 1);
  } finally {
    await session.release();
  }
}
