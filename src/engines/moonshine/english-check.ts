import { availableParallelism } from "node:os";
import { type DetectedLanguage, LanguageDetector } from "@parlance-inference/whisper-onnx/language-detector";
import { invalidRequest } from "../../kernel/faults.ts";

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
/**
 * Probability from which a single other language counts in short speech. No English clip of 1 to 2.5 s reached it, of those
 * that it was chosen on and of as many others; of other languages, 15 % did at 1 s and half at 2 s.
 */
const MIN_OTHER_PROBABILITY = 0.9;
/**
 * On clips of at least three seconds, English speech (native and with a cold, also at telephone quality) has 0.88 or more,
 * other languages have 0.18 or less.
 */
const MIN_ENGLISH_PROBABILITY = 0.2;
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

  /** Empty for English and for speech that is too short. Throws a Fault for other languages if the action is `refuse`. */
  async warnings(speech: Float32Array): Promise<string[]> {
    if (speech.length < MIN_SPEECH_SECONDS * SAMPLE_RATE) return [];
    this.#detector ??= LanguageDetector.load(this.#files, this.#threads);
    const isShort = speech.length < SHORT_SPEECH_SECONDS * SAMPLE_RATE;
    const finding = describeOtherLanguage(await (await this.#detector).detect(speech), isShort);
    if (finding === undefined) return [];
    if (this.#action === "warn") return [`${finding} The transcript may be invented.`];
    throw invalidRequest(
      `${finding} Use a multilingual model such as whisper-base, or send 'language' = en if the speech is English.`,
      "file",
      "unsupported_language",
    );
  }
}

/** Undefined when the speech may be English. */
function describeOtherLanguage(languages: readonly DetectedLanguage[], isShort: boolean): string | undefined {
  const english = languages.find(({ language }) => language === "en")?.probability ?? 0;
  const [likeliest] = languages;
  if (english >= MIN_ENGLISH_PROBABILITY || likeliest === undefined) return undefined;
  if (isShort && likeliest.probability < MIN_OTHER_PROBABILITY) return undefined;
  const name = new Intl.DisplayNames(["en"], { type: "language" }).of(likeliest.language) ?? likeliest.language;
  return `The speech is probably in ${name} (${likeliest.language}); this model transcribes only English (en).`;
}
