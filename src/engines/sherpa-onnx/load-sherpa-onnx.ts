/**
 * sherpa-onnx-node, which the operator installs: its binaries contain espeak-ng, which is under GPL-3. Only a model's
 * process loads it. The types are of the parts used here, because the package brings no declarations.
 */

import { createRequire } from "node:module";
import { invalidRequest } from "../../kernel/faults.ts";

const PACKAGE = "sherpa-onnx-node";
const require = createRequire(import.meta.url);

export interface SherpaOnnx {
  OfflineTts: { createAsync(config: object): Promise<OfflineTts> };
  OfflineRecognizer: {
    createAsync(config: OfflineRecognizerConfig): Promise<OfflineRecognizer>;
  };
}

export interface OfflineRecognizer {
  createStream(): OfflineStream;
  setConfig(config: OfflineRecognizerConfig): void;
  /** Runs off the event loop. One call at a time per recognizer. */
  decodeAsync(stream: OfflineStream): Promise<OfflineResult>;
}

interface OfflineStream {
  acceptWaveform(waveform: { samples: Float32Array; sampleRate: number }): void;
}

export interface OfflineResult {
  text: string;
  /** A language code, which may be enclosed in `<|` and `|>`; empty when the model does not report it. */
  lang: string;
  tokens: string[];
  /** Start of each token in seconds; empty when the model does not report it. */
  timestamps: number[];
}

export interface OfflineTts {
  numSpeakers: number;
  sampleRate: number;
  /** Runs off the event loop. `onProgress` stops it by returning false. */
  generateAsync(request: {
    text: string;
    sid: number;
    speed: number;
    enableExternalBuffer: boolean;
    onProgress: () => boolean;
  }): Promise<{ samples: Float32Array; sampleRate: number }>;
}

export type OfflineModelConfig = Readonly<Record<string, unknown>>;

export interface OfflineRecognizerConfig {
  featConfig: { sampleRate: number; featureDim: number };
  modelConfig: OfflineModelConfig & { tokens: string; numThreads: number; provider: "cpu"; debug: 0 };
}

export function isSherpaOnnxInstalled(): boolean {
  try {
    require.resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
}

/** Throws a Fault when sherpa-onnx-node is not installed. */
export function requireSherpaOnnx(): void {
  if (isSherpaOnnxInstalled()) return;
  throw invalidRequest(
    `The engine sherpa-onnx needs the npm package ${PACKAGE}, which is not installed. Run \`npm install ${PACKAGE}\` to install it. It contains espeak-ng, which is licensed under GPL-3.`,
    "engine",
  );
}

export function loadSherpaOnnx(): SherpaOnnx {
  return require(PACKAGE) as SherpaOnnx;
}
