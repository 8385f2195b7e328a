/** A BERT encoder with matrices of four bits as an ONNX graph. */

import { OnnxGraphBuilder, type Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { addEncoder, addPositions } from "./encoder-graph.ts";
import { BLOCK, type PackedModel } from "./packed-model.ts";

const LINEAR = { query: "q", key: "k", value: "v", mix: "ao", widen: "fi", narrow: "fo" } as const;
const NORM = { attention: "aln", output: "oln" } as const;
const TYPES = 2;

/** Maps `words` [batch, length, width], the embeddings of the tokens, and `mask` to the `embeddings` of `addEncoder`. */
export function packedGraph(model: PackedModel, pooledLayers?: readonly number[]): Uint8Array {
  const { width, wide, layers, heads, maxTokens, epsilon } = model;
  const graph = new OnnxGraphBuilder("packed-sentence-encoder", "");
  const floats = (name: string, ...dims: number[]): Value =>
    graph.floats(
      model.floats(
        name,
        dims.reduce((product, dim) => product * dim, 1),
      ),
      dims,
    );
  const normalize = (name: string, input: Value): Value =>
    graph.node("LayerNormalization", [input, floats(`${name}.w`, width), floats(`${name}.b`, width)], {
      axis: -1,
      epsilon,
    });
  const linear = (name: string, input: Value, rows: number, columns: number): Value => {
    const { values, scales } = model.matrix(`${name}.w`, rows, columns);
    const blocks = columns / BLOCK;
    const product = graph.node(
      "com.microsoft.MatMulNBits",
      [input, graph.bytes(values, [rows, blocks, BLOCK / 2]), graph.floats(scales, [rows, blocks])],
      { K: columns, N: rows, bits: 4, block_size: BLOCK },
    );
    return graph.node("Add", [product, floats(`${name}.b`, rows)]);
  };

  const words = graph.input("words", "float32", ["batch", "length", width]);
  const mask = graph.input("mask", "int32", ["batch", "length"]);
  // The first of two types: these models read one text at a time.
  const type = graph.floats(model.floats("emb.type", TYPES * width).subarray(0, width), [width]);
  const positioned = addPositions(graph, words, floats("emb.pos", maxTokens, width));
  const embedded = normalize("emb.ln", graph.node("Add", [positioned, type]));
  const parts = {
    heads,
    layers,
    linear: (layer: number, name: keyof typeof LINEAR, input: Value) =>
      linear(`l${layer}.${LINEAR[name]}`, input, name === "widen" ? wide : width, name === "narrow" ? wide : width),
    normalize: (layer: number, name: keyof typeof NORM, input: Value) => normalize(`l${layer}.${NORM[name]}`, input),
  };
  addEncoder(graph, parts, embedded, mask, pooledLayers);
  return graph.toBytes();
}
