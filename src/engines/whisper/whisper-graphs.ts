/** Whisper's encoder and decoder as ONNX graphs over the tensors of a model in CTranslate2's format. */

import { BINS, FRAME, fourierKernel, HOP, melFilters } from "./mel-filters.ts";
import { OnnxGraph, type Value } from "./onnx-graph.ts";
import type { Weights } from "./weights.ts";

export const WINDOW_SECONDS = 30;
const SAMPLES = WINDOW_SECONDS * 16_000;
const FRAMES = SAMPLES / HOP;
/** Steps of 20 ms that the decoder attends to. */
export const AUDIO_STEPS = FRAMES / 2;

export interface Shape {
  layers: number;
  heads: number;
  headSize: number;
  /** Tokens that it can look back on, the new ones included. */
  textContext: number;
}

/** A head of a decoder's layer that follows where in the recording the text is. */
export type AlignmentHead = readonly [layer: number, head: number];

export function shapeOf(weights: Weights): Shape {
  const [textContext = 0, width = 0] = weights.tensor("decoder/position_encodings/encodings").dims;
  const { heads } = weights;
  return { layers: weights.layers("decoder"), heads, headSize: width / heads, textContext };
}

/**
 * `samples` [480000] to what each of the decoder's layers attends to: `cross_key_N` [heads, size, 1500] and
 * `cross_value_N` [heads, 1500, size].
 */
export function encoderGraph(weights: Weights, file: string): Uint8Array {
  const parts = new Parts(weights, file);
  const { graph } = parts;
  const spectrum = logMel(graph, graph.input("samples", "float32", [SAMPLES]), melCount(weights));
  const narrow = graph.node("Gelu", [parts.convolve("encoder/conv1", spectrum, 1)]);
  const halved = graph.node("Gelu", [parts.convolve("encoder/conv2", narrow, 2)]);
  const steps = graph.node("Transpose", [graph.node("Squeeze", [halved, graph.integers([0])])], { perm: [1, 0] });
  let hidden = graph.node("Add", [steps, parts.weight("encoder/position_encodings/encodings")]);
  for (let layer = 0; layer < weights.layers("encoder"); layer += 1) {
    const prefix = `encoder/layer_${layer}`;
    const [query, key, value] = parts.queryKeyValue(`${prefix}/self_attention`, hidden);
    const mixed = parts.attend(parts.scores(query, graph.node("Transpose", [key], { perm: [0, 2, 1] })), value);
    hidden = graph.node("Add", [hidden, parts.linear(`${prefix}/self_attention/linear_1`, mixed)]);
    hidden = parts.feedForward(prefix, hidden);
  }
  const heard = parts.normalize("encoder/layer_norm", hidden);
  for (let layer = 0; layer < shapeOf(weights).layers; layer += 1) {
    const both = parts.linear(`decoder/layer_${layer}/attention/linear_1`, heard);
    const [key, value] = graph.nodes("Split", [both], 2, { axis: 1, num_outputs: 2 });
    graph.output(parts.byHead(key as Value, [1, 2, 0]), `cross_key_${layer}`);
    graph.output(parts.byHead(value as Value, [1, 0, 2]), `cross_value_${layer}`);
  }
  return graph.toBytes();
}

/**
 * `tokens` [n] after what `self_key_N` and `self_value_N` [heads, past, size] hold, at `positions` [n] and under `mask`
 * [n, past + n], to `logits` of the `wanted` ones of them, the new `self_…_out_N`, and `alignment` [heads, n, 1500]: how
 * much the alignment heads attend to each step, before softmax.
 */
export function decoderGraph(weights: Weights, file: string, alignmentHeads: readonly AlignmentHead[]): Uint8Array {
  const parts = new Parts(weights, file);
  const { graph } = parts;
  const { layers, heads, headSize } = shapeOf(weights);
  const tokens = graph.input("tokens", "int64", ["n"]);
  const positions = graph.input("positions", "int64", ["n"]);
  const mask = graph.input("mask", "float32", ["n", "all"]);
  const wanted = graph.input("wanted", "int64", ["wanted"]);
  const embedded = parts.lookUp("decoder/embeddings/weight", tokens);
  let hidden = graph.node("Add", [embedded, parts.lookUp("decoder/position_encodings/encodings", positions)]);
  const alignments: Value[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    const prefix = `decoder/layer_${layer}`;
    const [query, newKey, newValue] = parts.queryKeyValue(`${prefix}/self_attention`, hidden);
    const past = [heads, "past", headSize];
    const key = graph.node("Concat", [graph.input(`self_key_${layer}`, "float32", past), newKey], { axis: 1 });
    const value = graph.node("Concat", [graph.input(`self_value_${layer}`, "float32", past), newValue], { axis: 1 });
    graph.output(key, `self_key_out_${layer}`);
    graph.output(value, `self_value_out_${layer}`);
    const masked = graph.node("Add", [parts.scores(query, graph.node("Transpose", [key], { perm: [0, 2, 1] })), mask]);
    hidden = graph.node("Add", [
      hidden,
      parts.linear(`${prefix}/self_attention/linear_1`, parts.attend(masked, value)),
    ]);
    const asking = parts.linear(
      `${prefix}/attention/linear_0`,
      parts.normalize(`${prefix}/attention/layer_norm`, hidden),
    );
    const crossKey = graph.input(`cross_key_${layer}`, "float32", [heads, headSize, AUDIO_STEPS]);
    const crossValue = graph.input(`cross_value_${layer}`, "float32", [heads, AUDIO_STEPS, headSize]);
    const scores = parts.scores(parts.byHead(asking, [1, 0, 2]), crossKey);
    const own = alignmentHeads.filter(([of]) => of === layer).map(([, head]) => head);
    if (own.length > 0) alignments.push(graph.node("Gather", [scores, graph.integers(own)], { axis: 0 }));
    hidden = graph.node("Add", [
      hidden,
      parts.linear(`${prefix}/attention/linear_2`, parts.attend(scores, crossValue)),
    ]);
    hidden = parts.feedForward(prefix, hidden);
  }
  if (alignments.length > 0) graph.output(graph.node("Concat", alignments, { axis: 0 }), "alignment");
  const chosen = graph.node("Gather", [parts.normalize("decoder/layer_norm", hidden), wanted], { axis: 0 });
  const logits = graph.node("Gemm", [chosen, parts.weight("decoder/embeddings/weight")], { transB: 1 });
  graph.output(logits, "logits");
  return graph.toBytes();
}

/** What both have in common. Activations are [steps, width]: one recording at a time. */
class Parts {
  readonly graph: OnnxGraph;
  readonly #weights: Weights;
  readonly #shape: Shape;

  constructor(weights: Weights, file: string) {
    this.graph = new OnnxGraph(file);
    this.#weights = weights;
    this.#shape = shapeOf(weights);
  }

  weight(name: string): Value {
    return this.graph.weight(this.#weights.tensor(name));
  }

  lookUp(name: string, indices: Value): Value {
    const table = this.#weights.tensor(name);
    return this.graph.toFloat(this.graph.node("Gather", [this.graph.stored(table), indices], { axis: 0 }), table.type);
  }

  linear(name: string, input: Value): Value {
    return this.graph.node("Gemm", [input, this.weight(`${name}/weight`), this.weight(`${name}/bias`)], { transB: 1 });
  }

  convolve(name: string, input: Value, stride: number): Value {
    const inputs = [input, this.weight(`${name}/weight`), this.weight(`${name}/bias`)];
    return this.graph.node("Conv", inputs, { kernel_shape: [3], pads: [1, 1], strides: [stride] });
  }

  normalize(name: string, input: Value): Value {
    const inputs = [input, this.weight(`${name}/gamma`), this.weight(`${name}/beta`)];
    return this.graph.node("LayerNormalization", inputs, { axis: -1, epsilon: 1e-5 });
  }

  feedForward(prefix: string, hidden: Value): Value {
    const normal = this.normalize(`${prefix}/ffn/layer_norm`, hidden);
    const wide = this.graph.node("Gelu", [this.linear(`${prefix}/ffn/linear_0`, normal)]);
    return this.graph.node("Add", [hidden, this.linear(`${prefix}/ffn/linear_1`, wide)]);
  }

  /** Each [heads, steps, size]. */
  queryKeyValue(name: string, hidden: Value): [Value, Value, Value] {
    const all = this.linear(`${name}/linear_0`, this.normalize(`${name}/layer_norm`, hidden));
    const split = this.graph.nodes("Split", [all], 3, { axis: 1, num_outputs: 3 });
    return split.map((each) => this.byHead(each, [1, 0, 2])) as [Value, Value, Value];
  }

  /** [steps, width] as [steps, heads, size], put in another order. */
  byHead(value: Value, order: readonly number[]): Value {
    const { heads, headSize } = this.#shape;
    const split = this.graph.node("Reshape", [value, this.graph.integers([-1, heads, headSize])]);
    return this.graph.node("Transpose", [split], { perm: order });
  }

  /** `query` [heads, n, size], `key` [heads, size, m]: [heads, n, m]. */
  scores(query: Value, key: Value): Value {
    const scale = this.graph.float(1 / Math.sqrt(this.#shape.headSize));
    return this.graph.node("MatMul", [this.graph.node("Mul", [query, scale]), key]);
  }

  /** [n, width] */
  attend(scores: Value, value: Value): Value {
    const mixed = this.graph.node("MatMul", [this.graph.node("Softmax", [scores], { axis: -1 }), value]);
    const { heads, headSize } = this.#shape;
    const joined = this.graph.node("Transpose", [mixed], { perm: [1, 0, 2] });
    return this.graph.node("Reshape", [joined, this.graph.integers([-1, heads * headSize])]);
  }
}

function melCount(weights: Weights): number {
  return weights.tensor("encoder/conv1/weight").dims[1] ?? 0;
}

/** [1, count, 3000]: as OpenAI's own code has it, with the range cut at 80 dB below the loudest. */
function logMel(graph: OnnxGraph, samples: Value, count: number): Value {
  const shaped = graph.node("Reshape", [samples, graph.integers([1, 1, SAMPLES])]);
  const half = FRAME / 2;
  const padded = graph.node("Pad", [shaped, graph.integers([0, 0, half, 0, 0, half])], { mode: "reflect" });
  const kernel = graph.floats(fourierKernel(), [2 * BINS, 1, FRAME]);
  const transformed = graph.node("Conv", [padded, kernel], { kernel_shape: [FRAME], strides: [HOP] });
  const one = graph.integers([2]);
  const whole = graph.node("Slice", [transformed, graph.integers([0]), graph.integers([FRAMES]), one]);
  const squared = graph.node("Mul", [whole, whole]);
  const [real, imaginary] = graph.nodes("Split", [squared], 2, { axis: 1, num_outputs: 2 });
  const power = graph.node("Add", [real as Value, imaginary as Value]);
  const mel = graph.node("MatMul", [graph.floats(melFilters(count), [count, BINS]), power]);
  const loud = graph.node("Log", [graph.node("Max", [mel, graph.float(1e-10)])]);
  const bels = graph.node("Mul", [loud, graph.float(1 / Math.LN10)]);
  const loudest = graph.node("ReduceMax", [bels], { keepdims: 0 });
  const cut = graph.node("Max", [bels, graph.node("Sub", [loudest, graph.float(8)])]);
  return graph.node("Div", [graph.node("Add", [cut, graph.float(4)]), graph.float(4)]);
}
