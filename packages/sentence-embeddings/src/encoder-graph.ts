/** The layers of a BERT encoder, with mean pooling and normalization, as nodes of an ONNX graph. */

import type { OnnxGraphBuilder, Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";

type Linear = "query" | "key" | "value" | "mix" | "widen" | "narrow";
type Norm = "attention" | "output";

/** The weights of a BERT encoder, wherever they come from. */
export interface EncoderWeights {
  heads: number;
  layers: number;
  linear(layer: number, name: Linear, input: Value): Value;
  normalize(layer: number, name: Norm, input: Value): Value;
}

/**
 * Adds the layers above `embedded` [batch, length, width] and the output `embeddings` [batch, width]: the mean over the
 * unmasked positions, of length 1. The same as sentence-transformers' modules Transformer, Pooling (mean) and Normalize.
 * With `pooledLayers`, counted from 1, it is the means of these layers' outputs, one after the other.
 */
export function addEncoder(
  graph: OnnxGraphBuilder,
  weights: EncoderWeights,
  embedded: Value,
  mask: Value,
  pooledLayers: readonly number[] = [weights.layers],
): void {
  let hidden = embedded;
  const pooled: Value[] = [];
  for (let layer = 0; layer < weights.layers; layer += 1) {
    const linear = (name: Linear, input: Value) => weights.linear(layer, name, input);
    const inputs = [linear("query", hidden), linear("key", hidden), linear("value", hidden), "", mask];
    const attended = graph.node("com.microsoft.MultiHeadAttention", inputs, { num_heads: weights.heads });
    hidden = weights.normalize(layer, "attention", graph.node("Add", [hidden, linear("mix", attended)]));
    const wide = graph.node("Gelu", [linear("widen", hidden)]);
    hidden = weights.normalize(layer, "output", graph.node("Add", [hidden, linear("narrow", wide)]));
    if (pooledLayers.includes(layer + 1)) pooled.push(meanOfUnmasked(graph, hidden, mask));
  }
  const [first = hidden] = pooled;
  graph.output(pooled.length === 1 ? first : graph.node("Concat", pooled, { axis: 1 }), "embeddings");
}

function meanOfUnmasked(graph: OnnxGraphBuilder, hidden: Value, mask: Value): Value {
  const weights = graph.node("Unsqueeze", [graph.toFloat(mask, "int32"), graph.integers([2])]);
  const sum = graph.node("ReduceSum", [graph.node("Mul", [hidden, weights]), graph.integers([1])], { keepdims: 0 });
  // The sum points where the mean does, and normalization removes its length.
  return graph.node("LpNormalization", [sum], { axis: -1, p: 2 });
}

/** Adds the first rows of `positions` [maximum length, width], one for each token of `ids` or of its words. */
export function addPositions(graph: OnnxGraphBuilder, words: Value, positions: Value): Value {
  const zero = graph.integers([0]);
  const length = graph.node("Shape", [words], { start: 1, end: 2 });
  return graph.node("Add", [words, graph.node("Slice", [positions, zero, length, zero])]);
}
