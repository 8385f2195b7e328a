/** Detects the spoken language with Whisper's encoder and one step of its decoder. */

import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { readWeightIndex } from "./ctranslate2-weights.ts";
import { ModelFileError } from "./errors.ts";
import { openGraph } from "./open-graph.ts";
import { type DetectedLanguage, rankLanguages } from "./rank-languages.ts";
import { languageGraph, WINDOW_SECONDS } from "./whisper-graphs.ts";
import { WhisperTokenizer } from "./whisper-tokenizer.ts";

/** Samples of an encoder position: 20 ms. */
const POSITION_SAMPLES = 320;

export type { DetectedLanguage };

export class LanguageDetector {
  readonly #session: InferenceSession;
  readonly #languages: readonly string[];

  private constructor(session: InferenceSession, languages: readonly string[]) {
    this.#session = session;
    this.#languages = languages;
  }

  /** Takes the files of a multilingual Whisper model in CTranslate2's format. Throws a ModelFileError. */
  static async load(
    files: { weights: string; tokenizer: string; config: string },
    threads: number,
  ): Promise<LanguageDetector> {
    const weights = await readWeightIndex(files.weights);
    const size = weights.tensor("decoder/embeddings/weight").dims[0] ?? 0;
    const { languages, startOfTranscript } = await WhisperTokenizer.load(files.tokenizer, files.config, size);
    if (languages.size === 0) throw new ModelFileError("weights", `${files.weights} knows only English.`);
    const tokens = { startOfTranscript, languages: [...languages.values()] };
    // Recordings differ in length, and an arena keeps memory for each.
    const options = { threads, computeType: "float32", arena: false } as const;
    const session = await openGraph(files.weights, weights, (from, file) => languageGraph(from, file, tokens), options);
    return new LanguageDetector(session, [...languages.keys()]);
  }

  /** Takes mono samples at 16 kHz, of which at most the first 30 seconds count, and returns the likeliest language first. */
  async detect(samples: Float32Array): Promise<DetectedLanguage[]> {
    const positions = Math.max(1, Math.ceil(Math.min(samples.length, WINDOW_SECONDS * SAMPLE_RATE) / POSITION_SAMPLES));
    const padded = new Float32Array(positions * POSITION_SAMPLES);
    padded.set(samples.subarray(0, padded.length));
    const results = await this.#session.run({
      samples: new Tensor("float32", padded, [padded.length]),
      positions: new Tensor(
        "int64",
        BigInt64Array.from({ length: positions }, (_, index) => BigInt(index)),
        [positions],
      ),
    });
    const logits = (results.logits as Tensor).data as Float32Array;
    return rankLanguages(this.#languages, logits);
  }
}
