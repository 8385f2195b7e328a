import { SileroVad } from "./silero-vad.ts";
import { type SpeechSegment, segmentSpeech } from "./vad-segmenter.ts";

/** Finds speech in recordings, any number of which may be in progress. */
export class VoiceActivityDetector {
  readonly #vad: SileroVad;

  private constructor(vad: SileroVad) {
    this.#vad = vad;
  }

  /** `path` is Silero VAD v5's ONNX file. */
  static async load(path: string): Promise<VoiceActivityDetector> {
    return new VoiceActivityDetector(await SileroVad.load(path));
  }

  /** Yields the segments of a recording that are speech. `onProgress` receives the number of samples read so far. */
  segments(
    recording: AsyncIterable<Float32Array>,
    onProgress: (samples: number) => void,
  ): AsyncGenerator<SpeechSegment> {
    return segmentSpeech(recording, this.#vad.stream(), onProgress);
  }
}
