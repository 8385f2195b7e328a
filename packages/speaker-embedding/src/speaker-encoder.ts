/** Maps speech to a vector that is similar for speech of the same speaker. */

import { basename, dirname } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { campplusGraph, contextOfPositions } from "./campplus-graph.ts";
import { readTorchCheckpoint } from "./torch-checkpoint.ts";

/** Shorter speech is repeated, because statistics over little time are uncertain. */
const MIN_SAMPLES = 16_000;

export class SpeakerEncoder {
  readonly #session: InferenceSession;

  private constructor(session: InferenceSession) {
    this.#session = session;
  }

  /** Takes the checkpoint of CAM++ (`campplus_cn_en_common.pt`). */
  static async load(path: string, threads: number): Promise<SpeakerEncoder> {
    const graph = campplusGraph(await readTorchCheckpoint(path), basename(path));
    const session = await InferenceSession.create(graph, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      // Utterances differ in length, and an arena keeps memory for each.
      enableCpuMemArena: false,
      extra: {
        session: { model_external_initializers_file_folder_path: dirname(path), intra_op: { allow_spinning: "0" } },
      },
    });
    return new SpeakerEncoder(session);
  }

  /** Takes mono samples at 16 kHz and returns a vector of length 1 with 192 dimensions. */
  async embed(samples: Float32Array): Promise<Float32Array> {
    const repeated = repeatTo(samples, MIN_SAMPLES);
    const contexts = contextOfPositions(repeated.length);
    const results = await this.#session.run({
      samples: new Tensor("float32", repeated, [repeated.length]),
      contexts: new Tensor("int64", BigInt64Array.from(contexts, BigInt), [contexts.length]),
    });
    const vector = (results.embedding as Tensor).data as Float32Array;
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  }
}

function repeatTo(samples: Float32Array, length: number): Float32Array {
  if (samples.length >= length || samples.length === 0) return samples;
  const repeated = new Float32Array(length);
  for (let start = 0; start < length; start += samples.length) {
    repeated.set(samples.subarray(0, length - start), start);
  }
  return repeated;
}
