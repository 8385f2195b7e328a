/** Whisper's encoder and decoder as ONNX graphs over the tensors of a CTranslate2 model. */

import type { Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import type { WeightIndex } from "./ctranslate2-weights.ts";
import { decoderShape, LayerBuilder, logMel, type Three } from "./layer-builder.ts";
import { HOP_SAMPLES } from "./mel-filterbank.ts";

export const WINDOW_SECONDS = 30;
const SAMPLES = WINDOW_SECONDS * 16_000;
const FRAMES = SAMPLES / HOP_SAMPLES;
/** Encoder positions of 20 ms that the decoder attends to. */
export const AUDIO_POSITIONS = FRAMES / 2;

/** A cross-attention head whose attention follows the position in the audio. */
export type AlignmentHead = readonly [layer: number, head: number];

/**
 * Maps `samples` [480000] to the cross-attention inputs of each decoder layer: `cross_key_N` [heads, size, 1500] and
 * `cross_value_N` [heads, 1500, size].
 */
export function encoderGraph(weights: WeightIndex, file: string): Uint8Array {
  const build = new LayerBuilder(weights, file);
  const { graph } = build;
  const encoderOutput = encode(build, graph.input("samples", "float32", [SAMPLES]));
  for (let layer = 0; layer < decoderShape(weights).layers; layer += 1) {
    const { key, value } = build.crossKeyValue(layer, encoderOutput);
    graph.output(key, `cross_key_${layer}`);
    graph.output(value, `cross_value_${layer}`);
  }
  return graph.toBytes();
}

/**
 * Maps `samples` [any multiple of 320, at most 480000] and the encoder's `positions` [samples / 320] to `logits`, one for
 * each of `languages`: the decoder's prediction after the token that starts a transcript. A single token attends to nothing
 * but itself, so that its self-attention is its own value.
 */
export function languageGraph(
  weights: WeightIndex,
  file: string,
  tokens: { startOfTranscript: number; languages: readonly number[] },
): Uint8Array {
  const build = new LayerBuilder(weights, file);
  const { graph } = build;
  const samples = graph.input("samples", "float32", ["samples"]);
  const encoderOutput = encode(build, samples, graph.input("positions", "int64", ["positions"]));
  const embedded = build.lookUp("decoder/embeddings/weight", graph.integers([tokens.startOfTranscript]));
  const position = build.lookUp("decoder/position_encodings/encodings", graph.integers([0]));
  let hidden = graph.node("Add", [embedded, position]);
  for (let layer = 0; layer < decoderShape(weights).layers; layer += 1) {
    const prefix = `decoder/layer_${layer}`;
    const [, , value] = build.project(`${prefix}/self_attention`, hidden);
    hidden = graph.node("Add", [hidden, build.linear(`${prefix}/self_attention/linear_1`, value)]);
    const cross = build.crossKeyValue(layer, encoderOutput);
    const mixed = build.attend(build.crossScores(layer, hidden, cross.key), cross.value);
    hidden = graph.node("Add", [hidden, build.linear(`${prefix}/attention/linear_2`, mixed)]);
    hidden = build.feedForward(prefix, hidden);
  }
  const rows = build.lookUp("decoder/embeddings/weight", graph.integers(tokens.languages));
  graph.output(graph.node("Gemm", [build.normalize("decoder/layer_norm", hidden), rows], { transB: 1 }), "logits");
  return graph.toBytes();
}

/** [positions, width]; all 1500 positions unless named. */
function encode(build: LayerBuilder, samples: Value, positions?: Value): Value {
  const { graph, weights } = build;
  const [, melBands = 0] = weights.tensor("encoder/conv1/weight").dims;
  const spectrum = logMel(graph, samples, melBands);
  const narrow = graph.node("Gelu", [build.convolve("encoder/conv1", spectrum, 1)]);
  const halved = graph.node("Gelu", [build.convolve("encoder/conv2", narrow, 2)]);
  const frames = graph.node("Transpose", [graph.node("Squeeze", [halved, graph.integers([0])])], { perm: [1, 0] });
  const encodings = "encoder/position_encodings/encodings";
  const offsets = positions === undefined ? build.weight(encodings) : build.lookUp(encodings, positions);
  let hidden = graph.node("Add", [frames, offsets]);
  for (let layer = 0; layer < weights.layers("encoder"); layer += 1) {
    const prefix = `encoder/layer_${layer}`;
    const projected = build.project(`${prefix}/self_attention`, hidden);
    const mixed = build.attendToAll(projected);
    hidden = graph.node("Add", [hidden, build.linear(`${prefix}/self_attention/linear_1`, mixed)]);
    hidden = build.feedForward(prefix, hidden);
  }
  return build.normalize("encoder/layer_norm", hidden);
}

/**
 * Maps `tokens` [beams * n] at `positions` [beams * n], after the cached `self_key_N` and `self_value_N` [beams, heads,
 * capacity, size] and under `mask` [n, capacity + n], to `added` (keys and values of the tokens, layer by layer: [2 * layers
 * * beams, heads, n, size]), `alignment` [heads, beams * n, 1500] (cross-attention scores of the alignment heads before
 * softmax) and predictions at the `wanted` token indices, as `predict` returns them. `shape` is [beams, n, heads, size],
 * `widths` [capacity, n]. Attention to cached and to added tokens is computed apart, so that no run copies the cache.
 */
export function decoderGraph(weights: WeightIndex, file: string, tokens: DecoderTokens): Uint8Array {
  const { alignmentHeads } = tokens;
  const build = new LayerBuilder(weights, file);
  const { graph } = build;
  const { layers, heads, headSize } = decoderShape(weights);
  const ids = graph.input("tokens", "int64", ["tokens"]);
  const positions = graph.input("positions", "int64", ["tokens"]);
  const shape = graph.input("shape", "int64", [4]);
  const widths = graph.input("widths", "int64", [2]);
  const mask = graph.input("mask", "float32", ["n", "all"]);
  const tokenInput = graph.input("wanted", "int64", ["wanted"]);
  const embedded = build.lookUp("decoder/embeddings/weight", ids);
  let hidden = graph.node("Add", [embedded, build.lookUp("decoder/position_encodings/encodings", positions)]);
  const alignments: Value[] = [];
  const added: Value[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    const prefix = `decoder/layer_${layer}`;
    const [query, key, value] = build
      .project(`${prefix}/self_attention`, hidden)
      .map((each) => graph.node("Transpose", [graph.node("Reshape", [each, shape])], { perm: [0, 2, 1, 3] })) as Three;
    added.push(key, value);
    const [cachedKey, cachedValue] = ["self_key", "self_value"].map((name) =>
      graph.input(`${name}_${layer}`, "float32", ["beams", heads, "capacity", headSize]),
    ) as [Value, Value];
    const selfScores = [cachedKey, key].map((each) =>
      build.scores(query, graph.node("Transpose", [each], { perm: [0, 1, 3, 2] })),
    );
    const masked = graph.node("Add", [graph.node("Concat", selfScores, { axis: 3 }), mask]);
    const shares = graph.nodes("Split", [graph.node("Softmax", [masked], { axis: -1 }), widths], 2, { axis: 3 });
    const mixed = [cachedValue, value].map((each, index) => graph.node("MatMul", [shares[index] as Value, each]));
    const attended = build.joinHeads(graph.node("Add", mixed), [0, 2, 1, 3]);
    hidden = graph.node("Add", [hidden, build.linear(`${prefix}/self_attention/linear_1`, attended)]);
    const crossKey = graph.input(`cross_key_${layer}`, "float32", [heads, headSize, AUDIO_POSITIONS]);
    const crossValue = graph.input(`cross_value_${layer}`, "float32", [heads, AUDIO_POSITIONS, headSize]);
    const scores = build.crossScores(layer, hidden, crossKey);
    const layerHeads = alignmentHeads.filter(([of]) => of === layer).map(([, head]) => head);
    if (layerHeads.length > 0) alignments.push(graph.node("Gather", [scores, graph.integers(layerHeads)], { axis: 0 }));
    hidden = graph.node("Add", [
      hidden,
      build.linear(`${prefix}/attention/linear_2`, build.attend(scores, crossValue)),
    ]);
    hidden = build.feedForward(prefix, hidden);
  }
  graph.output(graph.node("Concat", added, { axis: 0 }), "added");
  if (alignments.length > 0) graph.output(graph.node("Concat", alignments, { axis: 0 }), "alignment");
  const chosen = graph.node("Gather", [build.normalize("decoder/layer_norm", hidden), tokenInput], { axis: 0 });
  predict(build, chosen, tokens);
  return graph.toBytes();
}

/**
 * Outputs, for each row, the logits of text tokens as `text` and of the tokens from the end of text on as `special`; of the
 * text tokens the `candidates` likeliest as `top_tokens` and `top_probabilities` (logarithms, among text tokens), and the
 * likeliest one's logit as `top_logit`. Suppressed text tokens are at -Infinity.
 */
function predict(build: LayerBuilder, hidden: Value, { endOfText, suppressed }: DecoderTokens): void {
  const { graph } = build;
  const embeddings = "decoder/embeddings/weight";
  const [size = 0] = build.weights.tensor(embeddings).dims;
  const bias = new Float32Array(size);
  for (const token of suppressed) if (token < endOfText) bias[token] = Number.NEGATIVE_INFINITY;
  const logits = build.multiply(embeddings, hidden, graph.floats(bias, [size]));
  const sizes = graph.integers([endOfText, size - endOfText]);
  const [text, special] = graph.nodes("Split", [logits, sizes], 2, { axis: 1 }) as [Value, Value];
  const probabilities = graph.node("LogSoftmax", [text], { axis: 1 });
  const candidates = graph.input("candidates", "int64", [1]);
  const [top, topTokens] = graph.nodes("TopK", [probabilities, candidates], 2, { axis: 1 }) as [Value, Value];
  graph.output(text, "text");
  graph.output(special, "special");
  graph.output(topTokens, "top_tokens", "int64");
  graph.output(top, "top_probabilities");
  graph.output(graph.node("ReduceMax", [text, graph.integers([1])], { keepdims: 0 }), "top_logit");
}

export interface DecoderTokens {
  alignmentHeads: readonly AlignmentHead[];
  /** The first special token; text tokens come before it. */
  endOfText: number;
  /** Tokens that are never decoded. */
  suppressed: readonly number[];
}
