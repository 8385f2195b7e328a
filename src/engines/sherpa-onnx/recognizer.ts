/** A loaded recognition model, which decodes one segment at a time. */

import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import { FAMILIES, type Family, type FamilyName, type ModelPaths } from "./families.ts";
import type { OfflineRecognizer, OfflineRecognizerConfig, OfflineResult, SherpaOnnx } from "./load-sherpa-onnx.ts";

export interface RecognizerSettings {
  family: FamilyName;
  paths: ModelPaths;
  threads: number | undefined;
}

export interface SegmentRequest {
  samples: Float32Array;
  sampleRate: number;
  language: string | undefined;
  translate: boolean;
}

type Configure = (language: string, translate: boolean) => OfflineRecognizerConfig;

const MEL_BINS = 80;
const MAX_DEFAULT_THREADS = 4;

export class Recognizer {
  readonly #recognizer: OfflineRecognizer;
  readonly #configure: Configure;
  readonly #family: Family;
  /** One segment at a time, first come first served: concurrent recordings alternate. */
  readonly #limit = pLimit(1);
  #configured = "";

  private constructor(recognizer: OfflineRecognizer, family: Family, configure: Configure) {
    this.#recognizer = recognizer;
    this.#family = family;
    this.#configure = configure;
  }

  static async load(sherpa: SherpaOnnx, { family: name, paths, threads }: RecognizerSettings): Promise<Recognizer> {
    const family: Family = FAMILIES[name];
    const configure: Configure = (language, translate) => ({
      featConfig: { sampleRate: 16_000, featureDim: MEL_BINS },
      modelConfig: {
        ...family.configure(paths, language, translate),
        tokens: paths.tokens ?? "",
        numThreads: threads ?? Math.min(MAX_DEFAULT_THREADS, availableParallelism()),
        provider: "cpu",
        debug: 0,
      },
    });
    return new Recognizer(await sherpa.OfflineRecognizer.createAsync(configure("", false)), family, configure);
  }

  /** Resolves with undefined when the signal aborts before decoding starts. */
  recognize(request: SegmentRequest, signal: AbortSignal): Promise<OfflineResult | undefined> {
    return this.#limit(async () => (signal.aborted ? undefined : this.#decode(request)));
  }

  #decode({ samples, sampleRate, language = "", translate }: SegmentRequest): Promise<OfflineResult> {
    const configuration = `${language} ${translate}`;
    if (this.#family.takesLanguage && configuration !== this.#configured) {
      this.#recognizer.setConfig(this.#configure(language, translate));
      this.#configured = configuration;
    }
    const stream = this.#recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate });
    return this.#recognizer.decodeAsync(stream);
  }
}
