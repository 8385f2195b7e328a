import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { openPhonemizer } from "@parlance-inference/kokoro-phonemes/open-phonemizer";
import type { Phonemizer } from "@parlance-inference/kokoro-phonemes/phonemizer";
import pLimit from "p-limit";
import { fadeEdges } from "../fade-edges.ts";
import { requireLanguage, spokenText } from "../language/require-language.ts";
import { levelLoudness } from "../loudness/level-loudness.ts";
import { VoiceLevel } from "../loudness/voice-level.ts";
import { britishDictionaries, Phonemizer as EnglishPhonemizer, phonemizerFiles } from "../phonemes/phonemizer.ts";
import type { SynthesisRequest } from "../synthesis-request.ts";
import type { RewrittenPart } from "../text/rewritten-text.ts";
import {
  type Segment,
  type TextLimits,
  type TracedSegment,
  toSegments,
  toTracedSegments,
} from "../text/to-segments.ts";
import { nothingToSpeak, unknownVoice } from "../tts-error.ts";
import { type SpokenWord, WordTiming } from "../words/word-timing.ts";
import type { AcousticModel } from "./acoustic-model.ts";
import { cutPhonemes } from "./cut-phonemes.ts";
import { openHibari } from "./hibari-model.ts";
import { openKokoro } from "./kokoro-model.ts";
import { hibariVoiceFiles, kokoroVoiceFiles } from "./voice-files.ts";
import { isBritish, languageOf, languagesOf, type VoiceLanguage } from "./voice-languages.ts";

export interface NeuralTtsOptions {
  /** Absolute paths of the model's files, by file name. The README lists the names. */
  paths: Readonly<Record<string, string>>;
  /** Left out: one for hibari, one per core and at most 4 for Kokoro. */
  threads?: number | undefined;
}

/** Samples, and the words that are spoken in them or, where a long sentence is cut within a word, begin there. */
export interface TimedSamples {
  samples: Float32Array;
  words: readonly SpokenWord[];
}

/** Voices of the Kokoro family: text → sentences → phonemes → samples. */
export class NeuralTts {
  readonly #model: AcousticModel;
  readonly #english: EnglishPhonemizer;
  readonly #path: (name: string) => string;
  /** By language, opened with the first text. */
  readonly #phonemizers = new Map<VoiceLanguage | "en-GB", Promise<Pick<Phonemizer, "phonemize">>>();
  readonly #vocabulary: Readonly<Record<string, number>>;
  /** Levels of voices that were not measured; at most one for each voice, because mixes have a loudness. */
  readonly #levels = new Map<string, VoiceLevel>();
  /** Runs one inference at a time. Requests alternate by the sentence, so a long text does not delay a short one. */
  readonly #runExclusive = pLimit(1);

  private constructor(
    model: AcousticModel,
    english: EnglishPhonemizer,
    vocabulary: Readonly<Record<string, number>>,
    path: (name: string) => string,
  ) {
    this.#model = model;
    this.#english = english;
    this.#vocabulary = vocabulary;
    this.#path = path;
  }

  static async open({ paths, threads }: NeuralTtsOptions): Promise<NeuralTts> {
    const path = (name: string) => paths[name] ?? "";
    const english = await EnglishPhonemizer.open(phonemizerFiles(path));
    const vocabulary = JSON.parse(await readFile(path("vocabulary.json"), "utf8"));
    const kokoro = namesOf(paths, /^kokoro\.onnx\.\d$/).toSorted();
    const model =
      kokoro.length > 0
        ? await openKokoro(kokoro.map(path), kokoroVoiceFiles(paths), threads ?? defaultThreads())
        : await openHibari(hibariVoiceFiles(paths), threads ?? 1);
    return new NeuralTts(model, english, vocabulary, path);
  }

  /** The default voice first. */
  get voices(): readonly string[] {
    return this.#model.voices;
  }

  /** Languages of the voices, ISO 639-1. */
  get languages(): readonly string[] {
    return languagesOf(this.voices);
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
    const segments = toSegments(request.text, this.#limitsOf(request));
    for await (const { samples } of this.#speak(request, segments, signal)) yield samples;
  }

  /** Like `synthesize`, with the words of each piece. `rewritten`: parts of the text that stand for what was written. */
  async *synthesizeTimed(
    request: SynthesisRequest,
    rewritten: readonly RewrittenPart[],
    signal: AbortSignal,
  ): AsyncGenerator<TimedSamples> {
    const segments = toTracedSegments(request.text, this.#limitsOf(request), rewritten);
    const language = languageOf(request.voice);
    const phonemizer = await this.#phonemizerOf(request.voice);
    const phonemize = (text: string) => phonemizer.phonemize(text);
    const { sampleRate } = this;
    const timing = new WordTiming({ phonemize, vocabulary: this.#vocabulary, language, sampleRate });
    yield* this.#speak(request, segments, signal, timing);
  }

  async *#speak(
    { voice, speed, checksLanguage }: SynthesisRequest,
    segments: readonly (Segment | TracedSegment)[],
    signal: AbortSignal,
    timing?: WordTiming,
  ): AsyncGenerator<TimedSamples> {
    const language = languageOf(voice);
    let hasSpoken = false;
    if (checksLanguage) await requireLanguage(spokenText(segments), [language], (code) => this.#voicesOf(code));
    const phonemizer = await this.#phonemizerOf(voice);
    for (const segment of segments) {
      if (signal.aborted) return;
      if ("pauseSeconds" in segment) {
        const samples = new Float32Array(Math.round(segment.pauseSeconds * this.sampleRate));
        timing?.pause(samples.length);
        yield { samples, words: [] };
        continue;
      }
      const phonemes = await phonemizer.phonemize(segment.sentence);
      if ("written" in segment) await timing?.begin(segment, phonemes);
      for (const ids of cutPhonemes(phonemes, this.#vocabulary, this.#model.maxPhonemes)) {
        const call = { phonemes: ids, voice, speed, isTimed: timing !== undefined };
        const spoken = await this.#runExclusive(() =>
          signal.aborted ? undefined : this.#model.synthesize(call, signal),
        );
        if (signal.aborted || spoken === undefined) return;
        hasSpoken = true;
        const samples = fadeEdges(this.#leveled(spoken.samples, voice), this.sampleRate);
        const words = timing?.take({ ids, durations: spoken.durations ?? [], samples }) ?? [];
        yield { samples, words };
      }
    }
    if (!hasSpoken) throw nothingToSpeak();
  }

  /** Throws a TtsError for an unknown voice. */
  #limitsOf({ voice, maxInputCharacters }: SynthesisRequest): TextLimits {
    this.#checkVoice(voice);
    const language = languageOf(voice);
    // A sentence has about as many phonemes as letters; one that has more is cut again as phonemes. A Chinese
    // character has about four, a Japanese one three.
    const maxSentenceCharacters = Math.floor(this.#model.maxPhonemes / ({ zh: 4, ja: 3 }[language as string] ?? 1));
    return { maxInputCharacters, maxSentenceCharacters, language };
  }

  async close(): Promise<void> {
    await this.#model.close();
    await this.#english.close();
  }

  async #phonemizerOf(voice: string): Promise<Pick<Phonemizer, "phonemize">> {
    const language = isBritish(voice) ? "en-GB" : languageOf(voice);
    if (language === "en") return this.#english;
    const open = () =>
      language === "en-GB"
        ? this.#english.toBritish(britishDictionaries(this.#path))
        : openPhonemizer(language, (name) => this.#path(`ipadic-${name}`));
    const opened = this.#phonemizers.get(language) ?? open();
    this.#phonemizers.set(language, opened);
    return opened;
  }

  #leveled(samples: Float32Array, voice: string): Float32Array {
    const loudness = this.#model.loudnessOf(voice);
    if (loudness !== undefined) return levelLoudness(samples, loudness);
    const level = this.#levels.get(voice) ?? new VoiceLevel(this.sampleRate);
    this.#levels.set(voice, level);
    return level.level(samples);
  }

  #voicesOf(language: string): string[] {
    return this.voices.filter((voice) => languageOf(voice) === language);
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
