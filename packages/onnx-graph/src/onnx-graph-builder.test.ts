import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { type ElementType, OnnxGraphBuilder, type Value } from "./onnx-graph-builder.ts";

const FILE = "weights.bin";

/** Runs a graph of one output on vectors of floats. */
async function run(
  graph: OnnxGraphBuilder,
  inputs: Readonly<Record<string, readonly number[]>>,
  weights = new Uint8Array(),
): Promise<{ dims: readonly number[]; values: number[] }> {
  // ONNX Runtime rejects an empty file.
  const externalData = weights.length === 0 ? [] : [{ path: FILE, data: weights }];
  const session = await InferenceSession.create(graph.toBytes(), { externalData });
  try {
    const feeds = Object.entries(inputs).map(([name, values]) => [
      name,
      new Tensor("float32", values, [values.length]),
    ]);
    const { result } = await session.run(Object.fromEntries(feeds));
    if (result === undefined) throw new Error("no output `result`");
    return { dims: result.dims, values: [...(result.data as Float32Array)] };
  } finally {
    await session.release();
  }
}

function graphOf(build: (graph: OnnxGraphBuilder, values: Value) => Value): OnnxGraphBuilder {
  const graph = new OnnxGraphBuilder("tested", FILE);
  graph.output(build(graph, graph.input("values", "float32", ["n"])), "result");
  return graph;
}

test("builds a graph that ONNX Runtime runs on inputs of any length", async () => {
  const doubled = graphOf((graph, values) => graph.node("Mul", [values, graph.float(2)]));
  expect(await run(doubled, { values: [1, -3] })).toEqual({ dims: [2], values: [2, -6] });
  expect(await run(doubled, { values: [0.5] })).toEqual({ dims: [1], values: [1] });
});

/** 1.5 and -2 in each type, after six bytes of something else. */
const STORED: [ElementType, readonly number[]][] = [
  ["float32", [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]],
  ["float16", [0, 0x3e, 0, 0xc0]],
  ["bfloat16", [0xc0, 0x3f, 0, 0xc0]],
];

test.each(STORED)("reads %s weights at their offset in the file", async (type, bytes) => {
  const file = Uint8Array.from([9, 9, 9, 9, 9, 9, 9, 9, ...bytes, 9, 9]);
  const added = graphOf((graph, values) =>
    graph.node("Add", [values, graph.weight({ dims: [2], type, offset: 8, bytes: bytes.length })]),
  );
  expect((await run(added, { values: [10, 20] }, file)).values).toEqual([11.5, 18]);
});

test("rejects a weight that lies outside the file when the model is loaded", async () => {
  const added = graphOf((graph, values) =>
    graph.node("Add", [values, graph.weight({ dims: [2], type: "float32", offset: 4, bytes: 8 })]),
  );
  await expect(run(added, { values: [1, 2] }, new Uint8Array(8))).rejects.toThrow();
});

test("writes integer, float, list and text attributes", async () => {
  const whole = graphOf((graph, values) => graph.node("LeakyRelu", [values], { alpha: 0.25 }));
  expect((await run(whole, { values: [-8, 8] })).values).toEqual([-2, 8]);
  const transposed = graphOf((graph, values) => {
    const rows = graph.node("Reshape", [values, graph.integers([2, 3])]);
    return graph.node("Transpose", [rows], { perm: [1, 0] });
  });
  expect(await run(transposed, { values: [1, 2, 3, 4, 5, 6] })).toEqual({ dims: [3, 2], values: [1, 4, 2, 5, 3, 6] });
  const gelu = (approximate: string) => graphOf((graph, values) => graph.node("Gelu", [values], { approximate }));
  const [[exact], [rough]] = [
    (await run(gelu("none"), { values: [1] })).values,
    (await run(gelu("tanh"), { values: [1] })).values,
  ];
  expect(exact).toBeCloseTo(0.841345, 5);
  expect(rough).toBeCloseTo(0.841192, 5);
});

test("uses operators with several outputs, and those that ONNX Runtime contributes", async () => {
  const difference = graphOf((graph, values) => {
    const [first = "", second = ""] = graph.nodes("Split", [values], 2, { axis: 0, num_outputs: 2 });
    return graph.node("Sub", [first, second]);
  });
  expect((await run(difference, { values: [5, 7, 1, 10] })).values).toEqual([4, -3]);
  const quick = graphOf((graph, values) => graph.node("com.microsoft.QuickGelu", [values], { alpha: 1.5 }));
  const { values } = await run(quick, { values: [2] });
  expect(values[0]).toBeCloseTo(2 / (1 + Math.exp(-3)), 5);
});

test("converts integers to floats", async () => {
  const summed = graphOf((graph, values) => {
    const length = graph.node("Cast", [graph.node("Shape", [values])], { to: 6 });
    return graph.node("Add", [values, graph.toFloat(length, "int32")]);
  });
  expect((await run(summed, { values: [0.5, 1, 2] })).values).toEqual([3.5, 4, 5]);
});
