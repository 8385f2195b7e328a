import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { addOutput } from "./add-output.ts";
import { editGraph } from "./edit-graph.ts";
import { OnnxGraphBuilder } from "./onnx-graph-builder.ts";

function doubledSums(): Uint8Array {
  const graph = new OnnxGraphBuilder("test", "unused");
  const doubled = graph.node("Mul", [graph.input("x", "float32", ["length"]), graph.float(2)]);
  const sums = graph.node("CumSum", [doubled, graph.integers([0])]);
  graph.output(graph.node("CumSum", [sums, graph.integers([0])]), "y");
  return graph.toBytes();
}

test("adds what the first node of an operator reads, for runs that fetch it", async () => {
  const session = await InferenceSession.create(editGraph(doubledSums(), addOutput("doubled", "CumSum")));
  const x = { x: new Tensor("float32", Float32Array.of(1, 2, 3), [3]) };
  const { doubled, y } = await session.run(x);
  expect([doubled?.data, y?.data]).toEqual([Float32Array.of(2, 4, 6), Float32Array.of(2, 8, 20)]);
  expect(Object.keys(await session.run(x, ["y"]))).toEqual(["y"]);
  await session.release();
});

test("refuses a graph without the operator", () => {
  expect(() => editGraph(doubledSums(), addOutput("parts", "Split"))).toThrow("no node Split");
});
