/** Whisper's encoder and decoder as ONNX Runtime sessions. */

import { basename, dirname } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import type { WeightIndex } from "./ctranslate2-weights.ts";
import {
  type AlignmentHead,
  AUDIO_POSITIONS,
  type DecoderShape,
  decoderGraph,
  decoderShape,
  encoderGraph,
} from "./whisper-graphs.ts";

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
    heads: readonly AlignmentHead[],
    threads: number,
  ): Promise<WhisperNetwork> {
    const options: InferenceSession.SessionOptions = {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      extra: {
        session: { model_external_initializers_file_folder_path: dirname(path), intra_op: { allow_spinning: "0" } },
      },
    };
    const file = basename(path);
    const encoder = await InferenceSession.create(encoderGraph(weights, file), options);
    const decoder = await InferenceSession.create(decoderGraph(weights, file, heads), options);
    return new WhisperNetwork(decoderShape(weights), encoder, decoder);
  }

  /** Encodes 30 seconds of samples. */
  async encode(samples: Float32Array): Promise<EncoderOutput> {
    return this.#encoder.run({ samples: new Tensor("float32", samples, [samples.length]) });
  }

  startDecoding(encoderOutput: EncoderOutput): DecoderState {
    return new DecoderState(this.#decoder, this.shape, encoderOutput);
  }
}

/** The key-value cache of one transcript, or of several beams, under construction: each token is decoded once. */
export class DecoderState {
  readonly #decoder: InferenceSession;
  readonly #shape: DecoderShape;
  readonly #encoderOutput: EncoderOutput;
  #past: Record<string, Tensor>;
  #length = 0;

  constructor(decoder: InferenceSession, shape: DecoderShape, encoderOutput: EncoderOutput) {
    const { layers, heads, headSize } = shape;
    this.#decoder = decoder;
    this.#shape = shape;
    this.#encoderOutput = encoderOutput;
    const empty = () => new Tensor("float32", new Float32Array(0), [1, heads, 0, headSize]);
    this.#past = Object.fromEntries(
      Array.from({ length: layers }, (_, layer) => [
        [`self_key_${layer}`, empty()],
        [`self_value_${layer}`, empty()],
      ]).flat(),
    );
  }

  /** Appends tokens to a single beam and returns the next-token logits at the `wanted` indices among them. */
  async append(tokens: readonly number[], wanted: readonly number[]): Promise<Float32Array[]> {
    return rowsOf((await this.#run(tokens, [0], wanted)).logits as Tensor);
  }

  /** Appends `tokens[i]` to the beam `parents[i]`, which becomes beam `i`, and returns the next-token logits of each. */
  async extend(tokens: readonly number[], parents: readonly number[]): Promise<Float32Array[]> {
    return rowsOf((await this.#run(tokens, parents, [...tokens.keys()])).logits as Tensor);
  }

  /** Appends tokens to a single beam and returns the positions in the audio that each of them attends to. */
  async align(tokens: readonly number[]): Promise<Alignment> {
    const alignment = (await this.#run(tokens, [0], [0])).alignment as Tensor;
    return { heads: alignment.dims[0] ?? 0, tokens: tokens.length, scores: alignment.data as Float32Array };
  }

  /** `tokens` are those of all beams, one beam after the other. */
  async #run(
    tokens: readonly number[],
    parents: readonly number[],
    wanted: readonly number[],
  ): Promise<InferenceSession.OnnxValueMapType> {
    const count = tokens.length / parents.length;
    const { heads, headSize } = this.#shape;
    const results = await this.#decoder.run({
      tokens: integers(tokens),
      positions: integers(tokens.map((_, index) => this.#length + (index % count))),
      shape: integers([parents.length, count, heads, headSize]),
      parents: integers(parents),
      mask: causalMask(count, this.#length),
      wanted: integers(wanted),
      ...this.#past,
      ...this.#encoderOutput,
    });
    this.#length += count;
    this.#past = Object.fromEntries(
      Object.keys(this.#past).map((name) => {
        const output = results[name.replace(/_(\d+)$/, "_out_$1")];
        if (output === undefined) throw new Error(`The decoder returned no ${name}`);
        return [name, output as Tensor];
      }),
    );
    return results;
  }
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

/** Each token attends to itself and the tokens before it. */
function causalMask(count: number, past: number): Tensor {
  const mask = new Float32Array(count * (past + count));
  for (let row = 0; row < count; row += 1) {
    mask.fill(Number.NEGATIVE_INFINITY, row * (past + count) + past + row + 1, (row + 1) * (past + count));
  }
  return new Tensor("float32", mask, [count, past + count]);
}
