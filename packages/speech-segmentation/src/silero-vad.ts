/** Silero VAD v5 on ONNX Runtime: the probability of speech in each window of 32 ms. */

import { InferenceSession, Tensor } from "onnxruntime-node";
import { SAMPLE_RATE, WINDOW_SAMPLES } from "./audio-format.ts";

/** Samples of the window before, which the model takes together with the new ones. */
const CONTEXT_SAMPLES = 64;
const STATE_DIMS = [2, 1, 128];
const SAMPLE_RATE_TENSOR = new Tensor("int64", BigInt64Array.of(BigInt(SAMPLE_RATE)), []);

/** Scores the windows of one recording in order. */
export interface VadStream {
  /** Probability of speech in the next 512 samples; a shorter last window is padded with silence. */
  probability(window: Float32Array): Promise<number>;
}

export class SileroVad {
  readonly #session: InferenceSession;

  private constructor(session: InferenceSession) {
    this.#session = session;
  }

  /** `path` is the ONNX file. One session serves any number of streams. */
  static async load(path: string): Promise<SileroVad> {
    const session = await InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      // Arenas keep memory for shapes that never change here.
      enableCpuMemArena: false,
      logSeverityLevel: 3,
    });
    return new SileroVad(session);
  }

  /** Starts a recording. */
  stream(): VadStream {
    const input = new Float32Array(CONTEXT_SAMPLES + WINDOW_SAMPLES);
    let state = new Tensor("float32", new Float32Array(2 * 128), STATE_DIMS);
    return {
      probability: async (window) => {
        input.fill(0, CONTEXT_SAMPLES + window.length);
        input.set(window, CONTEXT_SAMPLES);
        const results = await this.#session.run({
          input: new Tensor("float32", input, [1, input.length]),
          state,
          sr: SAMPLE_RATE_TENSOR,
        });
        input.copyWithin(0, WINDOW_SAMPLES);
        state = results.stateN as Tensor as typeof state;
        const [probability = 0] = (results.output as Tensor).data as Float32Array;
        return probability;
      },
    };
  }
}
