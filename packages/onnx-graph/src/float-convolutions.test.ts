import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { editGraph } from "./edit-graph.ts";
import { floatConvolutions } from "./float-convolutions.ts";
import { OnnxGraphBuilder } from "./onnx-graph-builder.ts";

/** A convolution in whole numbers with padding, as exports for bytes have it, and what else a model may have. */
function byteConvolution(): Uint8Array {
  const graph = new OnnxGraphBuilder("test", "unused");
  const x = graph.input("x", "float32", [1, 2, "length"]);
  const [bytes = "", scale = "", zero = ""] = graph.nodes("DynamicQuantizeLinear", [x], 3);
  const weights = graph.bytes(
    Uint8Array.from({ length: 4 * 2 * 3 }, (_, index) => (index * 37) % 256),
    [4, 2, 3],
  );
  const product = graph.node("ConvInteger", [bytes, weights, zero, graph.bytes(Uint8Array.of(128), [])], {
    pads: [1, 1],
    strides: [2],
  });
  graph.output(graph.node("Mul", [graph.toFloat(product, "int32"), scale]), "y");
  return graph.toBytes();
}

async function run(model: Uint8Array): Promise<unknown> {
  const session = await InferenceSession.create(model);
  const x = Float32Array.from({ length: 2 * 41 }, (_, index) => Math.sin(index));
  const { y } = await session.run({ x: new Tensor("float32", x, [1, 2, 41]) });
  await session.release();
  return [y?.dims, y?.data];
}

test("gives the same numbers without a convolution in whole numbers", async () => {
  const model = byteConvolution();
  const rewritten = editGraph(model, floatConvolutions);
  expect(Buffer.from(rewritten).includes("ConvInteger")).toBe(false);
  expect(await run(rewritten)).toEqual(await run(model));
  expect(await run(model)).toMatchObject([[1, 4, 21], expect.anything()]);
});
