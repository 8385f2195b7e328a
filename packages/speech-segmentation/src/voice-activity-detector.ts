/** Silero's voice activity detection, with one detector per recording in progress. */

import { SAMPLE_RATE } from "./audio-format.ts";
import { BUFFER_SECONDS, type SpeechSegment, segmentSpeech, type VadStream, WINDOW_SAMPLES } from "./vad-segmenter.ts";

export class VoiceActivityDetector {
  readonly #create: () => VadStream;
  /** Reused, because loading the model takes longer than a short recording. */
  readonly #idle: VadStream[] = [];

  private constructor(create: () => VadStream) {
    this.#create = create;
    this.#idle.push(create());
  }

  /** `model` is the path of Silero's ONNX file. */
  static async load(model: string): Promise<VoiceActivityDetector> {
    const { Vad } = (await import("sherpa-onnx-node")).default;
    const sileroVad = {
      model,
      threshold: 0.5,
      minSpeechDuration: 0.2,
      minSilenceDuration: 0.45,
      windowSize: WINDOW_SAMPLES,
      // Seconds. Beyond them sherpa-onnx accepts shorter silences and asks for more certain speech.
      maxSpeechDuration: 12,
    };
    const config = { sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1, debug: 0 };
    return new VoiceActivityDetector(() => new Vad(config, BUFFER_SECONDS));
  }

  /** Yields the segments of a recording that are speech. `onProgress` receives the number of samples read so far. */
  async *segments(
    recording: AsyncIterable<Float32Array>,
    onProgress: (samples: number) => void,
  ): AsyncGenerator<SpeechSegment> {
    const vad = this.#idle.pop() ?? this.#create();
    try {
      yield* segmentSpeech(recording, vad, onProgress);
    } finally {
      vad.reset();
      this.#idle.push(vad);
    }
  }
}
