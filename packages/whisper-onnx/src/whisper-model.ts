/** Transcribes recordings of any length: finds speech, merges it into windows, decodes each and filters the text. */

import { availableParallelism } from "node:os";
import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { filterHallucinations } from "@parlance-inference/speech-segmentation/hallucination-filter";
import { mergeSegments } from "@parlance-inference/speech-segmentation/merge-segments";
import { snapToSpeech } from "@parlance-inference/speech-segmentation/snap-to-speech";
import { speechOf } from "@parlance-inference/speech-segmentation/speech-of";
import { type EmbedVoice, splitAtVoiceChanges } from "@parlance-inference/speech-segmentation/split-at-voice-changes";
import { tidyPunctuation } from "@parlance-inference/speech-segmentation/tidy-punctuation";
import type { TimeRange } from "@parlance-inference/speech-segmentation/vad-segmenter";
import { VoiceActivityDetector } from "@parlance-inference/speech-segmentation/voice-activity-detector";
import pLimit from "p-limit";
import { readWeightIndex } from "./ctranslate2-weights.ts";
import {
  type DecodeOptions,
  decodeWindow,
  detectLanguages,
  isSilence,
  maxPromptTokens,
  promptTokens,
} from "./decode-window.ts";
import { divideByLanguage, type Heard } from "./divide-by-language.ts";
import { PromptTooLongError } from "./errors.ts";
import { type ComputeType, resolveComputeType } from "./open-graph.ts";
import { splitAtTimestamps, type TimedSegment } from "./split-segments.ts";
import { SpokenLanguages } from "./spoken-languages.ts";
import { type EncoderOutput, WhisperNetwork } from "./whisper-network.ts";
import { WhisperTokenizer } from "./whisper-tokenizer.ts";
import { halvesOf, padToWindow, remainderOf, type SpeechWindow } from "./window-parts.ts";
import { type WhisperWord, wordTimestamps } from "./word-timestamps.ts";

export interface WhisperFiles {
  /** `model.bin` of a CTranslate2 model in float16, bfloat16 or float32. */
  weights: string;
  /** `tokenizer.json` */
  tokenizer: string;
  /** `config.json`, as distributed beside `model.bin`. */
  config: string;
  /** Silero's voice activity model. */
  vad: string;
}

export interface TranscribeOptions {
  /** One of the model's `languages`; undefined: detected, also where it changes after a pause. */
  language?: string | undefined;
  /** What is detected is one of these; all of the model's `languages` by default. */
  languages?: readonly string[] | undefined;
  /** Translates into English. */
  translate?: boolean;
  /** Previous text, whose style and spelling the transcript follows. */
  prompt?: string | undefined;
  /** 0 to 1; 0, the default, decodes again at rising temperatures when the text looks wrong. */
  temperature?: number;
  /** Beams of a search at temperature 0; 1, the default, takes the likeliest token each time. */
  beamSize?: number;
  /** Transcripts that are sampled at temperatures above 0, of which the likeliest counts; 1 is the default. */
  bestOf?: number;
  wordTimestamps?: boolean;
  /** Gives segments a `voice`. Speech between two pauses or changes of the voice is then decoded alone. */
  embedVoice?: EmbedVoice | undefined;
}

export interface WhisperSegment {
  type: "segment";
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** Undefined unless requested. */
  words: readonly WhisperWord[] | undefined;
  /** Undefined unless requested. */
  voice: Float32Array | undefined;
  confidence: {
    tokens: readonly number[];
    averageLogProbability: number;
    noSpeechProbability: number;
    /** The temperature that the text was decoded at. */
    temperature: number;
  };
}

export type WhisperEvent = WhisperSegment | { type: "finish"; audioSeconds: number; language: string | undefined };

/** More threads do not make a window faster. */
const MAX_DEFAULT_THREADS = 4;
/** Whisper was trained on unsegmented audio: only long silences, where it invents text, are left out. */
const SEGMENTATION = { paddingSeconds: { before: 0.4, after: 0.4 }, maxKeptPauseSeconds: 2 };
/** In longer windows the text may not fit in the decoder's 224 tokens. */
const MAX_WINDOW_SECONDS = 26;
/**
 * Text of longer windows that repeats itself is decoded again in two parts: a loop of the decoder does not survive the cut,
 * and a phrase that was spoken twice does. At rising temperatures, 35 instead of
 * 4 % of the words of three such recordings were wrong.
 */
const MIN_DIVIDED_SECONDS = 6;

export class WhisperModel {
  /** ISO 639 codes. */
  readonly languages: readonly string[];
  readonly canTranslate: boolean;
  readonly canTimeWords: boolean;
  readonly #network: WhisperNetwork;
  readonly #tokenizer: WhisperTokenizer;
  readonly #vad: VoiceActivityDetector;
  /** Concurrent recordings take turns, because each window uses all threads. */
  readonly #oneAtATime = pLimit(1);

  private constructor(network: WhisperNetwork, tokenizer: WhisperTokenizer, vad: VoiceActivityDetector) {
    const isMultilingual = tokenizer.languages.size > 0;
    this.languages = isMultilingual ? [...tokenizer.languages.keys()] : ["en"];
    this.canTranslate = isMultilingual;
    this.canTimeWords = tokenizer.alignmentHeads.length > 0;
    this.#network = network;
    this.#tokenizer = tokenizer;
    this.#vad = vad;
  }

  /** `threads` defaults to one per core, at most 4; `computeType` to `auto`. Throws a ModelFileError. */
  static async load(
    files: WhisperFiles,
    { threads = defaultThreads(), computeType = "auto" }: { threads?: number; computeType?: ComputeType | "auto" } = {},
  ) {
    const weights = await readWeightIndex(files.weights);
    const size = weights.tensor("decoder/embeddings/weight").dims[0] ?? 0;
    const tokenizer = await WhisperTokenizer.load(files.tokenizer, files.config, size);
    const network = await WhisperNetwork.load(files.weights, weights, tokenizer, {
      threads,
      computeType: await resolveComputeType(computeType),
    });
    return new WhisperModel(network, tokenizer, await VoiceActivityDetector.load(files.vad, SEGMENTATION));
  }

  /**
   * Streams segments of a recording (mono, 16 kHz, -1 to 1) while it is read, and ends with one `finish`. Stops without
   * throwing once `signal` aborts. Throws a PromptTooLongError.
   */
  async *transcribe(
    recording: AsyncIterable<Float32Array>,
    options: TranscribeOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WhisperEvent> {
    const { translate = false, prompt, temperature = 0, beamSize = 1 } = options;
    const { bestOf = 1, wordTimestamps = false, embedVoice, languages = this.languages } = options;
    const language = options.language ?? (languages.length === 1 ? languages[0] : undefined);
    let samplesRead = 0;
    const run: Run = {
      translate,
      temperature,
      beamSize,
      bestOf,
      wordTimestamps,
      prompt: this.#encodePrompt(prompt),
      detectable: language === undefined ? languages : [],
      spoken: new SpokenLanguages(language),
      signal,
    };
    const speech = this.#vad.segments(recording, (samples) => {
      samplesRead = samples;
    });
    const windows =
      embedVoice === undefined ? mergeSegments(speech, MAX_WINDOW_SECONDS) : splitAtVoiceChanges(speech, embedVoice);
    for await (const window of windows) {
      const voice = await embedVoice?.(speechOf(window));
      const pending: SpeechWindow[] = [window];
      for (let current = pending.shift(); current !== undefined; current = pending.shift()) {
        const result = await this.#decode(current, run);
        if (signal.aborted || result === undefined) return;
        yield* result.segments.map((segment): WhisperSegment => ({ ...segment, voice }));
        pending.unshift(...result.rest);
      }
    }
    const written = translate ? "en" : run.spoken.longest;
    if (!signal.aborted) yield { type: "finish", audioSeconds: samplesRead / SAMPLE_RATE, language: written };
  }

  #encodePrompt(prompt: string | undefined): readonly number[] {
    const tokens = prompt === undefined ? [] : this.#tokenizer.encode(` ${prompt.trim()}`);
    const maxTokens = maxPromptTokens(this.#network);
    if (tokens.length > maxTokens) throw new PromptTooLongError(tokens.length, maxTokens);
    return tokens;
  }

  /** Undefined once the signal aborts. Recordings take turns step by step: a window may have many stretches. */
  async #decode(window: SpeechWindow, run: Run): Promise<WindowResult | undefined> {
    const listen = (samples: Float32Array) => this.#inTurn(run, () => this.#listen(samples, window, run));
    const { encoderOutput } = window;
    const heard = encoderOutput === undefined ? await listen(window.samples) : { encoderOutput, languages: [] };
    if (heard === undefined) return undefined;
    const parts =
      window.language === undefined ? await divideByLanguage(window, heard, run.spoken.current, listen) : [window];
    if (parts.length > 1) return { segments: [], rest: parts };
    return this.#inTurn(run, () => this.#decodePart(parts[0] ?? window, heard.encoderOutput, run));
  }

  async #listen(samples: Float32Array, { language }: SpeechWindow, { detectable }: Run): Promise<Heard> {
    const encoderOutput = await this.#network.encode(padToWindow(samples));
    if (language !== undefined || detectable.length === 0) return { encoderOutput, languages: [] };
    return {
      encoderOutput,
      languages: await detectLanguages(this.#network, this.#tokenizer, encoderOutput, detectable),
    };
  }

  /** Undefined once the signal has aborted. */
  #inTurn<Result>({ signal }: Run, work: () => Promise<Result>): Promise<Result | undefined> {
    return this.#oneAtATime(() => (signal.aborted ? undefined : work()));
  }

  async #decodePart(window: SpeechWindow, encoderOutput: EncoderOutput, run: Run): Promise<WindowResult | undefined> {
    const { language } = window;
    const isDivisible = run.temperature === 0 && window.samples.length >= MIN_DIVIDED_SECONDS * SAMPLE_RATE;
    const options = { ...run, language, random: Math.random, isDivisible };
    const decoded = await decodeWindow(this.#network, this.#tokenizer, encoderOutput, options, run.signal);
    if (decoded === undefined) return undefined;
    if (isSilence(decoded)) return { segments: [], rest: [] };
    if (decoded.isRepetitive && isDivisible) return { segments: [], rest: halvesOf(window) };
    const windowSeconds = window.samples.length / SAMPLE_RATE;
    const split = splitAtTimestamps(decoded.tokens, windowSeconds, this.#tokenizer);
    const spokenSegments = split.segments.filter((segment) => this.#textOf(segment) !== "");
    const words = run.wordTimestamps
      ? await this.#wordsOf(spokenSegments, encoderOutput, windowSeconds, options)
      : undefined;
    const { averageLogProbability, noSpeechProbability, temperature } = decoded;
    const segments = spokenSegments.map((segment, index): Omit<WhisperSegment, "voice"> => {
      const { tokens } = segment;
      const place = (times: TimeRange) => snapToSpeech(shift(times, window.startSeconds), window.speech);
      return {
        type: "segment",
        ...place(segment),
        text: this.#textOf(segment),
        words: words?.[index]?.map((word) => ({ word: word.word, ...place(word) })),
        confidence: { tokens, averageLogProbability, noSpeechProbability, temperature },
      };
    });
    run.spoken.add(language, segments);
    return { segments, rest: remainderOf(window, split) };
  }

  /** Empty when the segment is beyond the window's end or cannot contain the text. */
  #textOf({ tokens, startSeconds, endSeconds }: TimedSegment): string {
    if (endSeconds <= startSeconds) return "";
    return tidyPunctuation(filterHallucinations(this.#tokenizer.decode(tokens), endSeconds - startSeconds));
  }

  #wordsOf(
    segments: readonly TimedSegment[],
    encoderOutput: EncoderOutput,
    windowSeconds: number,
    { language, translate }: Pick<DecodeOptions, "language" | "translate">,
  ) {
    return wordTimestamps(this.#network, this.#tokenizer, {
      encoderOutput,
      windowSeconds,
      language,
      promptTokens: promptTokens(this.#tokenizer, { language, translate }),
      segments: segments.map(({ tokens }) => tokens.filter((token) => token < this.#tokenizer.endOfText)),
    });
  }
}

/** One recording in progress. */
interface Run {
  translate: boolean;
  temperature: number;
  beamSize: number;
  bestOf: number;
  wordTimestamps: boolean;
  prompt: readonly number[];
  /** Empty: the language is not detected. */
  detectable: readonly string[];
  spoken: SpokenLanguages;
  signal: AbortSignal;
}

interface WindowResult {
  segments: Omit<WhisperSegment, "voice">[];
  /** Audio that is not transcribed yet. */
  rest: readonly SpeechWindow[];
}

function defaultThreads(): number {
  return Math.min(MAX_DEFAULT_THREADS, availableParallelism());
}

function shift({ startSeconds, endSeconds }: TimeRange, seconds: number): TimeRange {
  return { startSeconds: startSeconds + seconds, endSeconds: endSeconds + seconds };
}
