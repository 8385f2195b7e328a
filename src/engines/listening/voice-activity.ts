/** Silero's voice activity detection, a detector for each recording under way. */

import { BUFFER_SECONDS, cutAtPauses, type Piece, SAMPLE_RATE, WINDOW } from "./cut-at-pauses.ts";

export interface Vad {
  acceptWaveform(samples: Float32Array): void;
  isEmpty(): boolean;
  isDetected(): boolean;
  /** `start` counts samples since the last reset. */
  front(enableExternalBuffer: boolean): { start: number; samples: Float32Array };
  pop(): void;
  flush(): void;
  reset(): void;
}

interface VadConfig {
  sileroVad: {
    model: string;
    threshold: number;
    minSpeechDuration: number;
    minSilenceDuration: number;
    /** Samples; Silero takes 512 at 16 kHz. */
    windowSize: number;
    /** Seconds; past them shorter silences and surer speech are asked for. */
    maxSpeechDuration: number;
  };
  sampleRate: number;
  numThreads: number;
  debug: 0;
}

export class VoiceActivity {
  readonly #create: () => Vad;
  /** Loading the model takes longer than a short recording. */
  readonly #idle: Vad[] = [];

  private constructor(create: () => Vad) {
    this.#create = create;
    this.#idle.push(create());
  }

  /** `model` is Silero's file. */
  static async load(model: string): Promise<VoiceActivity> {
    const { Vad } = (await import("sherpa-onnx-node")).default;
    const sileroVad = {
      model,
      threshold: 0.5,
      minSpeechDuration: 0.2,
      minSilenceDuration: 0.45,
      windowSize: WINDOW,
      maxSpeechDuration: 12,
    };
    const config: VadConfig = { sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1, debug: 0 };
    return new VoiceActivity(() => new Vad(config, BUFFER_SECONDS));
  }

  /** The pieces of a recording that are speech. `onHeard` is told how many samples came in all. */
  async *cut(recording: AsyncIterable<Float32Array>, onHeard: (samples: number) => void): AsyncGenerator<Piece> {
    const vad = this.#idle.pop() ?? this.#create();
    try {
      yield* cutAtPauses(recording, vad, onHeard);
    } finally {
      vad.reset();
      this.#idle.push(vad);
    }
  }
}
