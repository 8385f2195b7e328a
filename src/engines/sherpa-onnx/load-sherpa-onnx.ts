/** The parts of sherpa-onnx-node that are used here, typed, for it brings no declarations. Only a model's process loads it. */

export interface SherpaOnnx {
  OfflineRecognizer: {
    createAsync(config: OfflineRecognizerConfig): Promise<OfflineRecognizer>;
  };
}

export interface OfflineRecognizer {
  createStream(): OfflineStream;
  setConfig(config: OfflineRecognizerConfig): void;
  /** Off the event loop. One at a time for each recognizer. */
  decodeAsync(stream: OfflineStream): Promise<OfflineResult>;
}

interface OfflineStream {
  acceptWaveform(waveform: { samples: Float32Array; sampleRate: number }): void;
}

export interface OfflineResult {
  text: string;
  /** A code, perhaps between `<|` and `|>`; empty where the model does not tell. */
  lang: string;
  tokens: string[];
  /** Seconds at which each token begins; empty where the model does not tell. */
  timestamps: number[];
}

export type OfflineModelConfig = Readonly<Record<string, unknown>>;

export interface OfflineRecognizerConfig {
  featConfig: { sampleRate: number; featureDim: number };
  modelConfig: OfflineModelConfig & { tokens: string; numThreads: number; provider: "cpu"; debug: 0 };
}

export async function loadSherpaOnnx(): Promise<SherpaOnnx> {
  return (await import("sherpa-onnx-node")).default;
}
