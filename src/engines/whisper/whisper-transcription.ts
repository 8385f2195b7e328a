/** A Whisper model in this process: speech is found and put into windows, each is read, cut at its times and checked. */

import { availableParallelism } from "node:os";
import { invalidRequest } from "../../faults.ts";
import type {
  ModelHealth,
  TranscriptionAbilities,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
  TranscriptSegment,
} from "../engine.ts";
import { believableText } from "../listening/believable-text.ts";
import { type Piece, SAMPLE_RATE } from "../listening/cut-at-pauses.ts";
import { packPieces } from "../listening/pack-pieces.ts";
import { VoiceActivity } from "../listening/voice-activity.ts";
import { Turns } from "../turns.ts";
import { detectLanguage, isSilence, mostPromptTokens, readWindow, steering } from "./read-window.ts";
import { type CutWindow, cutAtTimes, type TimedTokens } from "./segments.ts";
import { timeWords } from "./time-words.ts";
import { Vocabulary } from "./vocabulary.ts";
import { readWeights } from "./weights.ts";
import { WINDOW_SECONDS } from "./whisper-graphs.ts";
import { type Heard, WhisperNetwork } from "./whisper-network.ts";

export interface WhisperSettings {
  paths: { model: string; tokenizer: string; config: string; vad: string };
  languages: readonly string[] | undefined;
  translates: boolean;
  slots: number;
  threads: number | undefined;
}

const USEFUL_THREADS = 4;
/** Beyond this the decoder, which writes at most 224 tokens, might not come to the end. */
const MOST_WINDOW_SECONDS = 26;
/**
 * Windows end where speech ends, so what the model does not come to is heard anew: where it means to go on, when more
 * than the margin around speech is left, otherwise when more is left than its times are off by.
 */
const LEAST_REST_SECONDS = { goesOn: 0.4, ended: 1 };

export class WhisperTranscription implements TranscriptionModel {
  readonly task = "transcription";
  readonly device = "cpu";
  readonly slots: number;
  readonly languages: readonly string[];
  readonly abilities: TranscriptionAbilities;
  readonly #network: WhisperNetwork;
  readonly #vocabulary: Vocabulary;
  readonly #voiceActivity: VoiceActivity;
  /** Recordings take turns at the networks, a window each, so that a long one does not hold a short one up. */
  readonly #turns = new Turns();

  private constructor(
    settings: WhisperSettings,
    network: WhisperNetwork,
    vocabulary: Vocabulary,
    voiceActivity: VoiceActivity,
  ) {
    const known = vocabulary.languages.size === 0 ? ["en"] : [...vocabulary.languages.keys()];
    const foreign = settings.languages?.find((code) => !known.includes(code));
    if (foreign !== undefined) throw invalidRequest(`This model does not know the language ${foreign}.`, "languages");
    this.slots = settings.slots;
    this.languages = settings.languages ?? known;
    this.abilities = {
      translation: settings.translates && vocabulary.languages.size > 0,
      prompt: true,
      temperature: true,
      wordTimes: vocabulary.alignmentHeads.length > 0,
    };
    this.#network = network;
    this.#vocabulary = vocabulary;
    this.#voiceActivity = voiceActivity;
  }

  static async load(settings: WhisperSettings): Promise<WhisperTranscription> {
    const { paths, threads = Math.min(USEFUL_THREADS, availableParallelism()) } = settings;
    const weights = await readWeights(paths.model);
    const size = weights.tensor("decoder/embeddings/weight").dims[0] ?? 0;
    const vocabulary = await Vocabulary.load(paths.tokenizer, paths.config, size);
    const network = await WhisperNetwork.load(paths.model, weights, vocabulary.alignmentHeads, threads);
    return new WhisperTranscription(settings, network, vocabulary, await VoiceActivity.load(paths.vad));
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    let heardSamples = 0;
    const reading: Reading = {
      request,
      prompt: this.#encodePrompt(request.prompt),
      language: request.language ?? (this.languages.length === 1 ? this.languages[0] : undefined),
      signal,
    };
    const pieces = this.#voiceActivity.cut(request.samples, (samples) => {
      heardSamples = samples;
    });
    for await (const window of packPieces(pieces, MOST_WINDOW_SECONDS)) {
      for (let rest: Piece | undefined = window; rest !== undefined; ) {
        const read: WindowRead | undefined = await this.#turns.take(signal, () => this.#read(rest as Piece, reading));
        if (signal.aborted || read === undefined) return;
        yield* read.segments;
        rest = read.rest;
      }
    }
    const language = request.translate ? "en" : reading.language;
    if (!signal.aborted) yield { type: "finish", audioSeconds: heardSamples / SAMPLE_RATE, language };
  }

  #encodePrompt(prompt: string | undefined): readonly number[] {
    const tokens = prompt === undefined ? [] : this.#vocabulary.encode(` ${prompt.trim()}`);
    const most = mostPromptTokens(this.#network);
    if (tokens.length <= most) return tokens;
    throw invalidRequest(`The prompt has ${tokens.length} tokens; this model takes at most ${most}.`, "prompt");
  }

  /** Undefined once the signal aborts. */
  async #read(window: Piece, reading: Reading): Promise<WindowRead | undefined> {
    const { request, signal } = reading;
    const heard = await this.#network.listen(toWholeWindow(window.samples));
    if (signal.aborted) return undefined;
    // What the first window is in holds for the whole recording.
    if (this.#vocabulary.languages.size > 0) {
      reading.language ??= await detectLanguage(this.#network, this.#vocabulary, heard);
    }
    const { translate, temperature } = request;
    const options = { language: reading.language, translate, prompt: reading.prompt, temperature, random: Math.random };
    const text = await readWindow(this.#network, this.#vocabulary, heard, options, signal);
    if (text === undefined) return undefined;
    const windowSeconds = window.samples.length / SAMPLE_RATE;
    if (isSilence(text)) return { segments: [], rest: undefined };
    const cut = cutAtTimes(text.tokens, windowSeconds, this.#vocabulary);
    const kept = cut.segments.filter((each) => this.#textOf(each) !== "");
    const words = request.wordTimes ? await this.#wordsOf(kept, heard, windowSeconds, reading) : undefined;
    const segments = kept.map((each, index): TranscriptSegment => {
      const own = words?.[index]?.map(({ word, startSeconds, endSeconds }) => ({
        word,
        startSeconds: window.startSeconds + startSeconds,
        endSeconds: window.startSeconds + endSeconds,
      }));
      const { averageLogProbability, noSpeechProbability } = text;
      return {
        type: "segment",
        startSeconds: window.startSeconds + each.startSeconds,
        endSeconds: window.startSeconds + each.endSeconds,
        text: this.#textOf(each),
        words: own,
        confidence: {
          tokens: each.tokens,
          averageLogProbability,
          noSpeechProbability,
          temperature: text.temperature,
        },
      };
    });
    return { segments, rest: restOf(window, cut) };
  }

  /** Empty when nobody can have said it in the time, or it is beyond the end. */
  #textOf({ tokens, startSeconds, endSeconds }: TimedTokens): string {
    if (endSeconds <= startSeconds) return "";
    return believableText(this.#vocabulary.decode(tokens), endSeconds - startSeconds);
  }

  #wordsOf(segments: readonly TimedTokens[], heard: Heard, windowSeconds: number, { request, language }: Reading) {
    return timeWords(this.#network, this.#vocabulary, {
      heard,
      windowSeconds,
      language,
      steering: steering(this.#vocabulary, { language, translate: request.translate }),
      segments: segments.map(({ tokens }) => tokens.filter((token) => token < this.#vocabulary.endOfText)),
    });
  }
}

/** One recording under way. */
interface Reading {
  request: TranscriptionRequest;
  prompt: readonly number[];
  language: string | undefined;
  signal: AbortSignal;
}

interface WindowRead {
  segments: TranscriptSegment[];
  /** What the model did not come to. */
  rest: Piece | undefined;
}

function restOf({ samples, startSeconds, endSeconds }: Piece, { toldSeconds, goesOn }: CutWindow): Piece | undefined {
  const from = Math.round(toldSeconds * SAMPLE_RATE);
  const least = (goesOn ? LEAST_REST_SECONDS.goesOn : LEAST_REST_SECONDS.ended) * SAMPLE_RATE;
  if (from === 0 || samples.length - from < least) return undefined;
  return { samples: samples.subarray(from), startSeconds: startSeconds + toldSeconds, endSeconds };
}

function toWholeWindow(samples: Float32Array): Float32Array {
  const whole = new Float32Array(WINDOW_SECONDS * SAMPLE_RATE);
  whole.set(samples.subarray(0, whole.length));
  return whole;
}
