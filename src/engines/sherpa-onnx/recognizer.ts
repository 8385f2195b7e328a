/** One loaded recognition model, which decodes a piece at a time, whoever's it is. */

import { availableParallelism } from "node:os";
import { FAMILIES, type Family, type FamilyName, type ModelPaths } from "./families.ts";
import type { OfflineRecognizer, OfflineRecognizerConfig, OfflineResult, SherpaOnnx } from "./load-sherpa-onnx.ts";

export interface RecognizerSettings {
  family: FamilyName;
  paths: ModelPaths;
  threads: number | undefined;
}

export interface PieceRequest {
  samples: Float32Array;
  sampleRate: number;
  language: string | undefined;
  translate: boolean;
}

type Configure = (language: string, translate: boolean) => OfflineRecognizerConfig;

const MEL_BINS = 80;
const USEFUL_THREADS = 4;

export class Recognizer {
  readonly #recognizer: OfflineRecognizer;
  readonly #configure: Configure;
  readonly #family: Family;
  /** Those who wait take turns: each recording has at most one piece here, so a long one does not hold a short one up. */
  #last: Promise<unknown> = Promise.resolve();
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
        numThreads: threads ?? Math.min(USEFUL_THREADS, availableParallelism()),
        provider: "cpu",
        debug: 0,
      },
    });
    return new Recognizer(await sherpa.OfflineRecognizer.createAsync(configure("", false)), family, configure);
  }

  recognize(request: PieceRequest, signal: AbortSignal): Promise<OfflineResult | undefined> {
    const turn = this.#last.then(() => (signal.aborted ? undefined : this.#decode(request)));
    this.#last = turn.catch(() => {});
    return turn;
  }

  #decode({ samples, sampleRate, language = "", translate }: PieceRequest): Promise<OfflineResult> {
    const wanted = `${language} ${translate}`;
    if (this.#family.takesLanguage && wanted !== this.#configured) {
      this.#recognizer.setConfig(this.#configure(language, translate));
      this.#configured = wanted;
    }
    const stream = this.#recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate });
    return this.#recognizer.decodeAsync(stream);
  }
}
