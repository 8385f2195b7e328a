/** A BERT encoder with mean pooling and normalization as an ONNX graph over its safetensors weights. */

import { OnnxGraphBuilder, type Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import type { SafetensorsIndex } from "./safetensors-index.ts";

const EPSILON = 1e-12;

/**
 * Maps `ids` and `mask` [batch, length] to `embeddings` [batch, width]: the mean over the unmasked positions, of length 1.
 * The same as sentence-transformers' modules Transformer, Pooling (mean) and Normalize.
 */
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
  const zero = graph.integers([0]);
  const length = graph.node("Shape", [ids], { start: 1, end: 2 });
  const positions = graph.node("Slice", [weight("embeddings.position_embeddings.weight"), zero, length, zero]);
  const firstType = graph.node("Gather", [weight("embeddings.token_type_embeddings.weight"), zero], { axis: 0 });
  const words = graph.node("Gather", [weight("embeddings.word_embeddings.weight"), ids], { axis: 0 });
  const embedded = graph.node("Add", [graph.node("Add", [words, positions]), firstType]);
  let hidden = normalize("embeddings.LayerNorm", embedded);

  for (let layer = 0; weights.has(`encoder.layer.${layer}.output.dense.weight`); layer += 1) {
    const prefix = `encoder.layer.${layer}`;
    const [query, key, value] = ["query", "key", "value"].map((name) =>
      linear(`${prefix}.attention.self.${name}`, hidden),
    ) as [Value, Value, Value];
    const attended = graph.node("com.microsoft.MultiHeadAttention", [query, key, value, "", mask], {
      num_heads: heads,
    });
    const mixed = graph.node("Add", [hidden, linear(`${prefix}.attention.output.dense`, attended)]);
    hidden = normalize(`${prefix}.attention.output.LayerNorm`, mixed);
    const wide = graph.node("Gelu", [linear(`${prefix}.intermediate.dense`, hidden)]);
    const narrow = graph.node("Add", [hidden, linear(`${prefix}.output.dense`, wide)]);
    hidden = normalize(`${prefix}.output.LayerNorm`, narrow);
  }
  graph.output(meanOfUnmasked(graph, hidden, mask), "embeddings");
  return graph.toBytes();
}

function meanOfUnmasked(graph: OnnxGraphBuilder, hidden: Value, mask: Value): Value {
  const weights = graph.node("Unsqueeze", [graph.toFloat(mask, "int32"), graph.integers([2])]);
  const sum = graph.node("ReduceSum", [graph.node("Mul", [hidden, weights]), graph.integers([1])], { keepdims: 0 });
  // The sum points where the mean does, and normalization removes its length.
  return graph.node("LpNormalization", [sum], { axis: -1, p: 2 });
}
