/** Contract of models that write down speech. Types only. */

import type { CallerHeaders, OpenModel } from "./open-model.ts";

export interface TranscriptionModel extends OpenModel {
  readonly task: "transcription";
  /** ISO 639-1 codes; undefined when an upstream does not report them. */
  readonly languages: readonly string[] | undefined;
  /** Optional features that a request may use. */
  readonly abilities: TranscriptionAbilities;
  /**
   * Streams segments as they are recognized, with ascending times, and ends with exactly one `finish`. Stops early,
   * without throwing, once `signal` aborts.
   */
  transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncIterable<TranscriptionEvent>;
}

export interface TranscriptionAbilities {
  /** True if the model translates into English. */
  translation: boolean;
  prompt: boolean;
  /** True if temperatures other than 0 are possible. */
  temperature: boolean;
  wordTimes: boolean;
  /** True if the model may tell speakers apart. */
  diarization: boolean;
}

export interface TranscriptionRequest {
  /** The requested catalog ID. */
  model: string;
  /** Mono samples, -1 to 1, at 16 kHz. Each iteration decodes the file again. */
  samples: AsyncIterable<Float32Array>;
  /** The original upload, for engines that forward it. */
  file: AudioFile;
  /** True: translate the speech into English. */
  translate: boolean;
  /** ISO 639-1 code; undefined: the model detects the language, or supports only one. */
  language: string | undefined;
  prompt: string | undefined;
  /** 0 to 1. */
  temperature: number;
  wordTimes: boolean;
  /** Undefined: the segments need no speaker. */
  speakers?: KnownSpeakers | undefined;
  /** True if the caller requested a stream; an upstream is then asked for one too. */
  stream: boolean;
  callerHeaders?: CallerHeaders;
  /** For turns between projects. */
  project?: string;
}

/** Speakers whose voices the caller knows; without any, speakers get letters. */
export interface KnownSpeakers {
  names: readonly string[];
  /** A recording of each as a data URL. */
  references: readonly string[];
  /** Decodes the recordings, for an engine that compares them itself. Throws a Fault, or the signal's reason. */
  readVoices?: (signal: AbortSignal) => Promise<readonly Float32Array[]>;
  /** What `readVoices` has read: mono samples at 16 kHz. */
  voices?: readonly Float32Array[] | undefined;
}

interface AudioFile {
  /** Name with an extension, from which an upstream knows the format. */
  name: string;
  bytes: number;
  open(): Promise<Blob>;
}

export type TranscriptionEvent =
  | TranscriptSegment
  /** A part of the text without times, from an upstream that streams; only with `stream`. */
  | { type: "delta"; text: string }
  /**
   * End of the transcript. `audioSeconds` is the duration of the audio; `language` is an ISO 639-1 code, if known;
   * `warnings` are sentences for the caller.
   */
  | { type: "finish"; audioSeconds: number; language: string | undefined; warnings?: readonly string[] };

export interface TranscriptSegment {
  type: "segment";
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** Undefined unless requested. */
  speaker?: string | undefined;
  /** True if deltas have already delivered the text. */
  isStreamed?: true;
  /** Undefined unless requested. */
  words: readonly TranscriptWord[] | undefined;
  /** Confidence values of the model; undefined where it reports none. */
  confidence: TranscriptConfidence | undefined;
}

export interface TranscriptWord {
  word: string;
  startSeconds: number;
  endSeconds: number;
}

interface TranscriptConfidence {
  tokens: readonly number[];
  averageLogProbability: number;
  noSpeechProbability: number;
  /** Temperature of the segment, if it differs from the requested one; undefined if unknown. */
  temperature: number | undefined;
}
