/** A BERT encoder with mean pooling and normalization as an ONNX graph over its safetensors weights. */

import { OnnxGraphBuilder, type Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { addEncoder, addPositions } from "./encoder-graph.ts";
import type { SafetensorsIndex } from "./safetensors-index.ts";

const EPSILON = 1e-12;

const LINEAR = {
  query: "attention.self.query",
  key: "attention.self.key",
  value: "attention.self.value",
  mix: "attention.output.dense",
  widen: "intermediate.dense",
  narrow: "output.dense",
} as const;
const NORM = { attention: "attention.output.LayerNorm", output: "output.LayerNorm" } as const;

/** Maps `ids` and `mask` [batch, length] to `embeddings` [batch, width]. */
export function bertGraph(weights: SafetensorsIndex, file: string, heads: number): Uint8Array {
  const graph = new OnnxGraphBuilder("sentence-encoder", file);
  const weight = (name: string): Value => graph.weight(weights.tensor(name));
  const normalize = (name: string, input: Value): Value =>
    graph.node("LayerNormalization", [input, weight(`${name}.weight`), weight(`${name}.bias`)], {
      axis: -1,
      epsilon: EPSILON,
    });
  const linear = (name: string, input: Value): Value => {
    const transposed = graph.node("Transpose", [weight(`${name}.weight`)], { perm: [1, 0] });
    return graph.node("Add", [graph.node("MatMul", [input, transposed]), weight(`${name}.bias`)]);
  };

  const ids = graph.input("ids", "int32", ["batch", "length"]);
  const mask = graph.input("mask", "int32", ["batch", "length"]);
  const firstType = graph.node("Gather", [weight("embeddings.token_type_embeddings.weight"), graph.integers([0])], {
    axis: 0,
  });
  const words = graph.node("Gather", [weight("embeddings.word_embeddings.weight"), ids], { axis: 0 });
  const positioned = addPositions(graph, words, weight("embeddings.position_embeddings.weight"));
  const embedded = normalize("embeddings.LayerNorm", graph.node("Add", [positioned, firstType]));

  let layers = 0;
  while (weights.has(`encoder.layer.${layers}.output.dense.weight`)) layers += 1;
  const parts = {
    heads,
    layers,
    linear: (layer: number, name: keyof typeof LINEAR, input: Value) =>
      linear(`encoder.layer.${layer}.${LINEAR[name]}`, input),
    normalize: (layer: number, name: keyof typeof NORM, input: Value) =>
      normalize(`encoder.layer.${layer}.${NORM[name]}`, input),
  };
  addEncoder(graph, parts, embedded, mask);
  return graph.toBytes();
}
