/** Whisper's two networks in ONNX Runtime: the encoder hears a window, the decoder reads tokens one after another. */

import { basename, dirname } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import type { Weights } from "./weights.ts";
import { type AlignmentHead, AUDIO_STEPS, decoderGraph, encoderGraph, type Shape, shapeOf } from "./whisper-graphs.ts";

/** What the decoder attends to: keys and values of each of its layers. */
export type Heard = Readonly<Record<string, Tensor>>;

export interface Alignment {
  heads: number;
  tokens: number;
  /** [heads, tokens, 1500], before softmax. */
  scores: Float32Array;
}

export class WhisperNetwork {
  readonly shape: Shape;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  private constructor(shape: Shape, encoder: InferenceSession, decoder: InferenceSession) {
    this.shape = shape;
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  static async load(
    path: string,
    weights: Weights,
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
    return new WhisperNetwork(shapeOf(weights), encoder, decoder);
  }

  /** `samples`: thirty seconds. */
  async listen(samples: Float32Array): Promise<Heard> {
    return this.#encoder.run({ samples: new Tensor("float32", samples, [samples.length]) });
  }

  passage(heard: Heard): Passage {
    return new Passage(this.#decoder, this.shape, heard);
  }
}

/** A text that grows: what was read is kept, so that each token is read once. */
export class Passage {
  readonly #decoder: InferenceSession;
  readonly #heard: Heard;
  #past: Record<string, Tensor>;
  #length = 0;

  constructor(decoder: InferenceSession, { layers, heads, headSize }: Shape, heard: Heard) {
    this.#decoder = decoder;
    this.#heard = heard;
    const empty = () => new Tensor("float32", new Float32Array(0), [heads, 0, headSize]);
    this.#past = Object.fromEntries(
      Array.from({ length: layers }, (_, layer) => [
        [`self_key_${layer}`, empty()],
        [`self_value_${layer}`, empty()],
      ]).flat(),
    );
  }

  get length(): number {
    return this.#length;
  }

  /** Logits of what comes after each of the `wanted` ones of these tokens. */
  async read(tokens: readonly number[], wanted: readonly number[]): Promise<Float32Array[]> {
    const results = await this.#run(tokens, wanted);
    const logits = results.logits as Tensor;
    const width = logits.dims[1] ?? 0;
    const data = logits.data as Float32Array;
    return wanted.map((_, index) => data.subarray(index * width, (index + 1) * width));
  }

  /** Reads the tokens and tells where in the window each of them attends to. */
  async align(tokens: readonly number[]): Promise<Alignment> {
    const alignment = (await this.#run(tokens, [0])).alignment as Tensor;
    return { heads: alignment.dims[0] ?? 0, tokens: tokens.length, scores: alignment.data as Float32Array };
  }

  async #run(tokens: readonly number[], wanted: readonly number[]): Promise<InferenceSession.OnnxValueMapType> {
    const count = tokens.length;
    const results = await this.#decoder.run({
      tokens: integers(tokens),
      positions: integers(tokens.map((_, index) => this.#length + index)),
      mask: causalMask(count, this.#length),
      wanted: integers(wanted),
      ...this.#past,
      ...this.#heard,
    });
    this.#length += count;
    this.#past = Object.fromEntries(
      Object.keys(this.#past).map((name) => {
        const output = results[name.replace(/_(\d+)$/, "_out_$1")];
        if (output === undefined) throw new Error(`The decoder gave no ${name}`);
        return [name, output as Tensor];
      }),
    );
    return results;
  }
}

export function alignmentOf({ scores, tokens }: Alignment, head: number, token: number): Float32Array {
  const start = (head * tokens + token) * AUDIO_STEPS;
  return scores.subarray(start, start + AUDIO_STEPS);
}

function integers(values: readonly number[]): Tensor {
  return new Tensor("int64", BigInt64Array.from(values, BigInt), [values.length]);
}

/** A token sees those before it and itself. */
function causalMask(count: number, past: number): Tensor {
  const mask = new Float32Array(count * (past + count));
  for (let row = 0; row < count; row += 1) {
    mask.fill(Number.NEGATIVE_INFINITY, row * (past + count) + past + row + 1, (row + 1) * (past + count));
  }
  return new Tensor("float32", mask, [count, past + count]);
}
