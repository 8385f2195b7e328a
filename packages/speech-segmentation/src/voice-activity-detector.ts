import { SileroVad } from "./silero-vad.ts";
import { type SegmenterOptions, type SpeechSegment, segmentSpeech } from "./vad-segmenter.ts";

/** Finds speech in recordings, any number of which may be in progress. */
export class VoiceActivityDetector {
  readonly #vad: SileroVad;
  readonly #options: Partial<SegmenterOptions>;

  private constructor(vad: SileroVad, options: Partial<SegmenterOptions>) {
    this.#vad = vad;
    this.#options = options;
  }

  /** `path` is Silero VAD v5's ONNX file. */
  static async load(path: string, options: Partial<SegmenterOptions> = {}): Promise<VoiceActivityDetector> {
    return new VoiceActivityDetector(await SileroVad.load(path), options);
  }

  /** Yields the segments of a recording that are speech. `onProgress` receives the number of samples read so far. */
  segments(
    recording: AsyncIterable<Float32Array>,
    onProgress: (samples: number) => void,
  ): AsyncGenerator<SpeechSegment> {
    return segmentSpeech(recording, this.#vad.stream(), onProgress, this.#options);
  }
}
