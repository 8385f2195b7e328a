/** Layers that Whisper's encoder and decoder share, and the spectrogram before them, as nodes of an ONNX graph. */

import { OnnxGraphBuilder, type Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import type { WeightIndex } from "./ctranslate2-weights.ts";
import { dftKernel, FFT_BINS, FRAME_SAMPLES, HOP_SAMPLES, melFilterbank } from "./mel-filterbank.ts";

export interface DecoderShape {
  layers: number;
  heads: number;
  headSize: number;
  /** Size of the decoder's context in tokens. */
  contextTokens: number;
}

export function decoderShape(weights: WeightIndex): DecoderShape {
  const [contextTokens = 0, width = 0] = weights.tensor("decoder/position_encodings/encodings").dims;
  const { heads } = weights;
  return { layers: weights.layers("decoder"), heads, headSize: width / heads, contextTokens };
}

export type Three = [Value, Value, Value];

/** Layers that encoder and decoder share. Activations are [positions, width]; those of several beams follow one another. */
export class LayerBuilder {
  readonly graph: OnnxGraphBuilder;
  readonly weights: WeightIndex;
  readonly #shape: DecoderShape;

  constructor(weights: WeightIndex, file: string) {
    this.graph = new OnnxGraphBuilder("whisper", file);
    this.weights = weights;
    this.#shape = decoderShape(weights);
  }

  weight(name: string): Value {
    return this.graph.weight(this.weights.tensor(name));
  }

  lookUp(name: string, indices: Value): Value {
    const table = this.weights.tensor(name);
    return this.graph.toFloat(this.graph.node("Gather", [this.graph.stored(table), indices], { axis: 0 }), table.type);
  }

  linear(name: string, input: Value): Value {
    return this.multiply(`${name}/weight`, input, this.weight(`${name}/bias`));
  }

  /** `input` [positions, columns] times the transposed matrix [rows, columns], plus `bias` [rows]. */
  multiply(name: string, input: Value, bias: Value): Value {
    const matrix = this.weights.matrix?.(name);
    if (matrix === undefined) return this.graph.node("Gemm", [input, this.weight(name), bias], { transB: 1 });
    const { values, scales } = matrix;
    const inputs = [input, this.graph.stored(values), this.graph.stored(scales), "", bias];
    return this.graph.node("com.microsoft.DynamicQuantizeMatMul", inputs);
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

  /** Query, key and value, each [positions, width]. */
  project(name: string, hidden: Value): Three {
    const all = this.linear(`${name}/linear_0`, this.normalize(`${name}/layer_norm`, hidden));
    return this.graph.nodes("Split", [all], 3, { axis: 1, num_outputs: 3 }) as Three;
  }

  /** [positions, width]; every position attends to every other. Scores of all pairs are never in memory at once. */
  attendToAll(projected: Three): Value {
    const first = this.graph.integers([0]);
    const batch = projected.map((each) => this.graph.node("Unsqueeze", [each, first]));
    const attributes = { num_heads: this.#shape.heads };
    return this.graph.node("Squeeze", [this.graph.node("com.microsoft.MultiHeadAttention", batch, attributes), first]);
  }

  /** What the decoder's layer attends to in the audio: `key` [heads, size, positions], `value` [heads, positions, size]. */
  crossKeyValue(layer: number, encoderOutput: Value): { key: Value; value: Value } {
    const keyValue = this.linear(`decoder/layer_${layer}/attention/linear_1`, encoderOutput);
    const [key, value] = this.graph.nodes("Split", [keyValue], 2, { axis: 1, num_outputs: 2 });
    return { key: this.splitHeads(key as Value, [1, 2, 0]), value: this.splitHeads(value as Value, [1, 0, 2]) };
  }

  /** [heads, tokens, positions] */
  crossScores(layer: number, hidden: Value, key: Value): Value {
    const prefix = `decoder/layer_${layer}/attention`;
    const query = this.linear(`${prefix}/linear_0`, this.normalize(`${prefix}/layer_norm`, hidden));
    return this.scores(this.splitHeads(query, [1, 0, 2]), key);
  }

  /** [positions, width] reshaped to [positions, heads, size] and transposed by `order`. */
  splitHeads(value: Value, order: readonly number[]): Value {
    const { heads, headSize } = this.#shape;
    const split = this.graph.node("Reshape", [value, this.graph.integers([-1, heads, headSize])]);
    return this.graph.node("Transpose", [split], { perm: order });
  }

  /** `query` [heads, n, size], `key` [heads, size, m]: [heads, n, m]. */
  scores(query: Value, key: Value): Value {
    const scale = this.graph.float(1 / Math.sqrt(this.#shape.headSize));
    return this.graph.node("MatMul", [this.graph.node("Mul", [query, scale]), key]);
  }

  /** [positions, width] */
  attend(scores: Value, value: Value): Value {
    const mixed = this.graph.node("MatMul", [this.graph.node("Softmax", [scores], { axis: -1 }), value]);
    return this.joinHeads(mixed, [1, 0, 2]);
  }

  /** [positions, width]; `order` moves the heads behind the positions. */
  joinHeads(value: Value, order: readonly number[]): Value {
    const { heads, headSize } = this.#shape;
    const joined = this.graph.node("Transpose", [value], { perm: order });
    return this.graph.node("Reshape", [joined, this.graph.integers([-1, heads * headSize])]);
  }
}

/** Log-mel spectrogram [1, count, frames of 10 ms] as in OpenAI's implementation, clamped to 80 dB below its maximum. */
export function logMel(graph: OnnxGraphBuilder, samples: Value, count: number): Value {
  const shaped = graph.node("Reshape", [samples, graph.integers([1, 1, -1])]);
  const half = FRAME_SAMPLES / 2;
  const padded = graph.node("Pad", [shaped, graph.integers([0, 0, half, 0, 0, half])], { mode: "reflect" });
  const kernel = graph.floats(dftKernel(), [2 * FFT_BINS, 1, FRAME_SAMPLES]);
  const transformed = graph.node("Conv", [padded, kernel], { kernel_shape: [FRAME_SAMPLES], strides: [HOP_SAMPLES] });
  const timeAxis = graph.integers([2]);
  const spectrum = graph.node("Slice", [transformed, graph.integers([0]), graph.integers([-1]), timeAxis]);
  const squared = graph.node("Mul", [spectrum, spectrum]);
  const [real, imaginary] = graph.nodes("Split", [squared], 2, { axis: 1, num_outputs: 2 });
  const power = graph.node("Add", [real as Value, imaginary as Value]);
  const mel = graph.node("MatMul", [graph.floats(melFilterbank(count), [count, FFT_BINS]), power]);
  const naturalLog = graph.node("Log", [graph.node("Max", [mel, graph.float(1e-10)])]);
  const log10 = graph.node("Mul", [naturalLog, graph.float(1 / Math.LN10)]);
  const maximum = graph.node("ReduceMax", [log10], { keepdims: 0 });
  const clamped = graph.node("Max", [log10, graph.node("Sub", [maximum, graph.float(8)])]);
  return graph.node("Div", [graph.node("Add", [clamped, graph.float(4)]), graph.float(4)]);
}
