import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import { fadeEdges } from "../fade-edges.ts";
import { requireLanguage, spokenText } from "../language/require-language.ts";
import { levelLoudness } from "../loudness/level-loudness.ts";
import { Phonemizer } from "../phonemes/phonemizer.ts";
import type { SynthesisRequest } from "../synthesis-request.ts";
import { toSegments } from "../text/to-segments.ts";
import { nothingToSpeak, unknownVoice } from "../tts-error.ts";
import type { AcousticModel } from "./acoustic-model.ts";
import { cutPhonemes } from "./cut-phonemes.ts";
import { openHibari } from "./hibari-model.ts";
import { openKokoro } from "./kokoro-model.ts";
import { hibariVoiceFiles, kokoroVoiceFiles } from "./voice-files.ts";

export interface NeuralTtsOptions {
  /** Absolute paths of the model's files, by file name. The README lists the names. */
  paths: Readonly<Record<string, string>>;
  /** Left out: one for hibari, one per core and at most 4 for Kokoro. */
  threads?: number | undefined;
}

/** Voices of the Kokoro family: text → sentences → phonemes → samples. */
export class NeuralTts {
  readonly #model: AcousticModel;
  readonly #phonemizer: Phonemizer;
  readonly #vocabulary: Readonly<Record<string, number>>;
  /** Runs one inference at a time. Requests alternate by the sentence, so a long text does not delay a short one. */
  readonly #runExclusive = pLimit(1);

  private constructor(model: AcousticModel, phonemizer: Phonemizer, vocabulary: Readonly<Record<string, number>>) {
    this.#model = model;
    this.#phonemizer = phonemizer;
    this.#vocabulary = vocabulary;
  }

  static async open({ paths, threads }: NeuralTtsOptions): Promise<NeuralTts> {
    const path = (name: string) => paths[name] ?? "";
    const phonemizer = await Phonemizer.open({
      checkedDictionary: path("dictionary-checked.json.gz"),
      guessedDictionary: path("dictionary-guessed.json.gz"),
      tagger: path("tagger.json.gz"),
      normalization: path("spelling.json"),
      graphemeToPhoneme: path("unknown-words.onnx"),
      graphemeToPhonemeAlphabet: path("unknown-words.json"),
    });
    const vocabulary = JSON.parse(await readFile(path("vocabulary.json"), "utf8"));
    const kokoro = namesOf(paths, /^kokoro\.onnx\.\d$/).toSorted();
    const model =
      kokoro.length > 0
        ? await openKokoro(kokoro.map(path), kokoroVoiceFiles(paths), threads ?? defaultThreads())
        : await openHibari(hibariVoiceFiles(paths), threads ?? 1);
    return new NeuralTts(model, phonemizer, vocabulary);
  }

  /** The default voice first. */
  get voices(): readonly string[] {
    return this.#model.voices;
  }

  get sampleRate(): number {
    return this.#model.sampleRate;
  }

  /** Whether `a+b` names a mix of two voices. */
  get mixesVoices(): boolean {
    return this.#model.mixesVoices;
  }

  /**
   * Yields mono samples (-1 to 1), a piece for each sentence. Stops early, without throwing, once `signal` aborts.
   * Throws a TtsError before the first samples.
   */
  async *synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const { voice, speed, maxInputCharacters, checksLanguage } = request;
    this.#checkVoice(voice);
    // A sentence has about as many phonemes as letters; one that has more is cut again as phonemes.
    const maxSentenceCharacters = this.#model.maxPhonemes;
    let hasSpoken = false;
    const segments = toSegments(request.text, { maxInputCharacters, maxSentenceCharacters });
    if (checksLanguage) await requireLanguage(spokenText(segments), ["en"]);
    for (const segment of segments) {
      if (signal.aborted) return;
      if ("pauseSeconds" in segment) {
        yield new Float32Array(Math.round(segment.pauseSeconds * this.sampleRate));
        continue;
      }
      const phonemes = await this.#phonemizer.phonemize(segment.sentence);
      for (const ids of cutPhonemes(phonemes, this.#vocabulary, this.#model.maxPhonemes)) {
        const samples = await this.#runExclusive(() =>
          signal.aborted ? undefined : this.#model.synthesize(ids, voice, speed, signal),
        );
        if (signal.aborted || samples === undefined) return;
        hasSpoken = true;
        yield fadeEdges(levelLoudness(samples, this.#model.loudnessOf(voice)), this.sampleRate);
      }
    }
    if (!hasSpoken) throw nothingToSpeak();
  }

  async close(): Promise<void> {
    await this.#model.close();
    await this.#phonemizer.close();
  }

  #checkVoice(voice: string): void {
    const parts = this.mixesVoices ? voice.split("+") : [voice];
    if (!parts.every((part) => this.voices.includes(part))) throw unknownVoice(voice, this.voices);
  }
}

function namesOf(paths: Readonly<Record<string, string>>, pattern: RegExp): string[] {
  return Object.keys(paths).filter((name) => pattern.test(name));
}

function defaultThreads(): number {
  return Math.min(4, availableParallelism());
}
