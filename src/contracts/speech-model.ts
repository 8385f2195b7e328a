/** Contract of models that speak a text. Types only. */

import type { CallerHeaders, OpenModel } from "./open-model.ts";
import type { TranscriptWord } from "./transcription-model.ts";

export interface SpeechModel extends OpenModel {
  readonly task: "speech";
  /** Names of its voices, the default first; undefined when an upstream does not report them. */
  readonly voices: readonly string[] | undefined;
  /** Voice by alias, such as OpenAI's voice names. */
  readonly voiceAliases: Readonly<Record<string, string>>;
  /** ISO 639-1 codes; undefined when the voices do not state them. */
  readonly languages: readonly string[] | undefined;
  /** ISO 639-1 code by voice, for a model whose voices differ in it. */
  readonly voiceLanguages?: Readonly<Record<string, string>>;
  /** Samples per second of its output. */
  readonly sampleRate: number;
  /** Whether it says when each word is spoken. */
  readonly wordTimes: boolean;
  /**
   * Streams mono samples (-1 to 1) sentence by sentence. Stops early, without throwing, once `signal`
   * aborts. Throws a Fault before the first samples when it cannot serve the request, such as an unknown voice.
   */
  speak(request: SpeechRequest, signal: AbortSignal): AsyncIterable<SpeechEvent>;
}

/** Samples; or, only with `wordTimes` and before the samples in which they begin, words in order. */
export type SpeechEvent = Float32Array | SpokenWords;

interface SpokenWords {
  /** As they are written, with their punctuation. Times count from the beginning of the audio. */
  words: readonly TranscriptWord[];
}

export interface SpeechRequest {
  /** The requested catalog ID. */
  model: string;
  text: string;
  voice: string;
  /** 0.25 to 4; 1 is the voice's normal speed. */
  speed: number;
  /** Description of the speaking style, which only models of upstreams have; others ignore it. */
  instructions: string | undefined;
  /** Left out: no. Only for models with `wordTimes`. */
  wordTimes?: boolean;
  /** Parts of `text` that stand for what was written, in order; only with `wordTimes`. */
  rewritten?: readonly RewrittenPart[];
  callerHeaders?: CallerHeaders;
}

export interface RewrittenPart {
  /** In UTF-16 units, as `length`. */
  start: number;
  length: number;
  written: string;
}
