import { availableParallelism } from "node:os";
import { LanguageDetector } from "@parlance-inference/whisper-onnx/language-detector";
import { invalidRequest } from "../../kernel/faults.ts";
import { findOtherLanguage } from "./find-other-language.ts";

export interface DetectorFiles {
  weights: string;
  tokenizer: string;
  config: string;
}

const SAMPLE_RATE = 16_000;
/** In shorter speech the language is a guess. */
const MIN_SPEECH_SECONDS = 1;
/** In speech below this, English may look unlikely among many possible languages. */
const SHORT_SPEECH_SECONDS = 3;
const MAX_THREADS = 4;

/** Keeps an English-only model from turning speech in another language into fluent English. */
export class EnglishCheck {
  readonly #files: DetectorFiles;
  readonly #action: "refuse" | "warn";
  readonly #threads: number;
  /** Loaded by the first recording that needs it. */
  #detector: Promise<LanguageDetector> | undefined;

  constructor(
    files: DetectorFiles,
    action: "refuse" | "warn",
    threads = Math.min(MAX_THREADS, availableParallelism()),
  ) {
    this.#files = files;
    this.#action = action;
    this.#threads = threads;
  }

  /** A failed load is tried again by the next request. */
  #load(): Promise<LanguageDetector> {
    this.#detector ??= LanguageDetector.load(this.#files, this.#threads).catch((failure: unknown) => {
      this.#detector = undefined;
      throw failure;
    });
    return this.#detector;
  }

  /** Empty for English and for speech that is too short. Throws a Fault for other languages if the action is `refuse`. */
  async warnings(speech: Float32Array): Promise<string[]> {
    if (speech.length < MIN_SPEECH_SECONDS * SAMPLE_RATE) return [];
    const detector = await this.#load();
    const isShort = speech.length < SHORT_SPEECH_SECONDS * SAMPLE_RATE;
    const other = findOtherLanguage(await detector.detect(speech), isShort);
    if (other === undefined) return [];
    const { language, isCertain } = other;
    const name = new Intl.DisplayNames(["en"], { type: "language" }).of(language) ?? language;
    const finding = `The speech is probably in ${name} (${language}); this model transcribes only English (en).`;
    if (this.#action === "warn" || !isCertain) return [`${finding} The transcript may be invented.`];
    throw invalidRequest(
      `${finding} Use a multilingual model such as whisper-base, or send 'language' = en if the speech is English.`,
      "file",
      "unsupported_language",
    );
  }
}
