/** Whisper's encoder and decoder as ONNX Runtime sessions. */

import { type InferenceSession, Tensor } from "onnxruntime-node";
import { BeamCache } from "./beam-cache.ts";
import type { WeightIndex } from "./ctranslate2-weights.ts";
import { type DecoderShape, decoderShape } from "./layer-builder.ts";
import { type ComputeType, openGraph } from "./open-graph.ts";
import type { Prediction } from "./token-sampling.ts";
import { AUDIO_POSITIONS, type DecoderTokens, decoderGraph, encoderGraph } from "./whisper-graphs.ts";

/** Cross-attention keys and values of each decoder layer. */
export type EncoderOutput = Readonly<Record<string, Tensor>>;

export interface Alignment {
  heads: number;
  tokens: number;
  /** [heads, tokens, 1500], before softmax. */
  scores: Float32Array;
}

export class WhisperNetwork {
  readonly shape: DecoderShape;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  private constructor(shape: DecoderShape, encoder: InferenceSession, decoder: InferenceSession) {
    this.shape = shape;
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  static async load(
    path: string,
    weights: WeightIndex,
    tokens: DecoderTokens,
    { threads, computeType }: { threads: number; computeType: ComputeType },
  ): Promise<WhisperNetwork> {
    const open = (build: (from: WeightIndex, file: string) => Uint8Array) =>
      openGraph(path, weights, build, { threads, computeType });
    const encoder = await open((from, file) => encoderGraph(from, file));
    const decoder = await open((from, file) => decoderGraph(from, file, tokens));
    return new WhisperNetwork(decoderShape(weights), encoder, decoder);
  }

  /** Encodes 30 seconds of samples. */
  async encode(samples: Float32Array): Promise<EncoderOutput> {
    return this.#encoder.run({ samples: new Tensor("float32", samples, [samples.length]) });
  }

  startDecoding(encoderOutput: EncoderOutput, maxBeams: number): DecoderState {
    return new DecoderState(this.#decoder, this.shape, encoderOutput, maxBeams);
  }
}

interface PredictionOptions {
  /** Number of text tokens whose logits are returned. */
  candidates: number;
  /** Whether the logits of all text tokens are returned as well. */
  allText?: boolean;
}

const PREDICTION_OUTPUTS = ["special", "top_tokens", "top_probabilities", "top_logit"];

/** One transcript, or several beams, under construction: each token is decoded once. */
export class DecoderState {
  readonly #decoder: InferenceSession;
  readonly #shape: DecoderShape;
  readonly #encoderOutput: EncoderOutput;
  readonly #cache: BeamCache;

  constructor(decoder: InferenceSession, shape: DecoderShape, encoderOutput: EncoderOutput, maxBeams: number) {
    this.#decoder = decoder;
    this.#shape = shape;
    this.#encoderOutput = encoderOutput;
    this.#cache = new BeamCache(shape, maxBeams);
  }

  /** Appends tokens to a single beam and predicts the tokens after those at the `wanted` indices. */
  async append(
    tokens: readonly number[],
    wanted: readonly number[],
    options: PredictionOptions,
  ): Promise<Prediction[]> {
    return toPredictions(await this.#run(tokens, 1, predictionFeeds(wanted, options), outputsOf(options)));
  }

  /** Appends `tokens[i]` to the beam `parents[i]`, which becomes beam `i`, and predicts the next token of each. */
  async extend(
    tokens: readonly number[],
    parents: readonly number[],
    options: PredictionOptions,
  ): Promise<Prediction[]> {
    const slots = this.#cache.reorder(parents);
    const placed = new Array<number>(tokens.length).fill(0);
    for (const [beam, slot] of slots.entries()) placed[slot] = tokens[beam] ?? 0;
    const feeds = predictionFeeds([...tokens.keys()], options);
    const predictions = toPredictions(await this.#run(placed, tokens.length, feeds, outputsOf(options)));
    return slots.flatMap((slot) => predictions[slot] ?? []);
  }

  /** Appends tokens to a single beam and returns the positions in the audio that each of them attends to. */
  async align(tokens: readonly number[]): Promise<Alignment> {
    const results = await this.#run(tokens, 1, predictionFeeds([0], { candidates: 1 }), ["alignment"]);
    const alignment = results.alignment as Tensor;
    return { heads: alignment.dims[0] ?? 0, tokens: tokens.length, scores: alignment.data as Float32Array };
  }

  /** `tokens` are those of all slots, one slot after the other. Outputs that are not requested are not copied. */
  async #run(
    tokens: readonly number[],
    beams: number,
    feeds: Readonly<Record<string, Tensor>>,
    outputs: readonly string[],
  ): Promise<InferenceSession.OnnxValueMapType> {
    const count = tokens.length / beams;
    const { length, capacity } = this.#cache;
    const { heads, headSize } = this.#shape;
    const all = {
      tokens: integers(tokens),
      positions: integers(tokens.map((_, index) => length + (index % count))),
      shape: integers([beams, count, heads, headSize]),
      widths: integers([capacity, count]),
      mask: attentionMask(count, length, capacity),
      ...feeds,
      ...this.#cache.inputs(beams),
      ...this.#encoderOutput,
    };
    const results = await this.#decoder.run(all, [...outputs, "added"]);
    this.#cache.append((results.added as Tensor).data as Float32Array, beams, count);
    return results;
  }
}

function predictionFeeds(wanted: readonly number[], { candidates }: PredictionOptions): Record<string, Tensor> {
  return { wanted: integers(wanted), candidates: integers([candidates]) };
}

function outputsOf({ allText = false }: PredictionOptions): readonly string[] {
  return allText ? [...PREDICTION_OUTPUTS, "text"] : PREDICTION_OUTPUTS;
}

function toPredictions(results: InferenceSession.OnnxValueMapType): Prediction[] {
  const { data, dims } = results.top_tokens as Tensor;
  const candidates = dims[1] ?? 0;
  const topLogits = (results.top_logit as Tensor).data as Float32Array;
  const probabilities = rowsOf(results.top_probabilities as Tensor);
  const allText = results.text === undefined ? undefined : rowsOf(results.text as Tensor);
  return rowsOf(results.special as Tensor).map((special, row) => {
    const logProbabilities = [...(probabilities[row] ?? [])];
    const textLogSum = (topLogits[row] ?? 0) - (logProbabilities[0] ?? 0);
    const text = logProbabilities.map((logProbability, index) => ({
      token: Number((data as BigInt64Array)[row * candidates + index]),
      logit: logProbability + textLogSum,
    }));
    return { text, textLogSum, special, allText: allText?.[row] };
  });
}

/** Rows of a matrix, which share its memory. */
function rowsOf({ data, dims }: Tensor): Float32Array[] {
  const [rows = 0, width = 0] = dims;
  return Array.from({ length: rows }, (_, row) => (data as Float32Array).subarray(row * width, (row + 1) * width));
}

/** Returns the scores of one head and token, one for each audio position of 20 ms. */
export function alignmentScores({ scores, tokens }: Alignment, head: number, token: number): Float32Array {
  const start = (head * tokens + token) * AUDIO_POSITIONS;
  return scores.subarray(start, start + AUDIO_POSITIONS);
}

function integers(values: readonly number[]): Tensor {
  return new Tensor("int64", BigInt64Array.from(values, BigInt), [values.length]);
}

/** Each token attends to those of the cache, to itself and to the tokens before it. */
function attentionMask(count: number, cached: number, capacity: number): Tensor {
  const width = capacity + count;
  const mask = new Float32Array(count * width);
  for (let row = 0; row < count; row += 1) {
    mask.fill(Number.NEGATIVE_INFINITY, row * width + cached, row * width + capacity);
    mask.fill(Number.NEGATIVE_INFINITY, row * width + capacity + row + 1, (row + 1) * width);
  }
  return new Tensor("float32", mask, [count, width]);
}
