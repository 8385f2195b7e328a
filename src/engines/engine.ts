/** The contract between Parlance and what performs inference: types without behaviour. */

import type { Logger } from "../observability/logger.ts";
import type { ChatModel } from "./chat-model.ts";
import type { CallerHeaders, OpenModel } from "./open-model.ts";

/** An opened model performs exactly one task, so a task that it cannot do cannot be called. */
export type Model = ChatModel | ModerationModel | SpeechModel | TranscriptionModel;

// ---- moderation

export interface ModerationModel extends OpenModel {
  readonly task: "moderation";
  /** Undefined when an upstream does not say. */
  readonly categories: readonly string[] | undefined;
  readonly takesImages: boolean;
  /**
   * One verdict for each input, in order. `asked` is for upstreams.
   * Throws a Fault when an input cannot be judged whole.
   */
  moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    asked?: ModerationAsked,
  ): Promise<readonly ModerationVerdict[]>;
}

export interface ModerationAsked {
  /** The catalog id that was asked for. */
  model: string;
  callerHeaders?: CallerHeaders | undefined;
}

/** Judged as one. Images are URLs or data URLs; none for a model that takes no images. */
export interface ModerationInput {
  text: string;
  images: readonly string[];
}

/** Each map has an entry for every category that the model judged. */
export interface ModerationVerdict {
  /** 0 to 1. */
  scores: Readonly<Record<string, number>>;
  flags: Readonly<Record<string, boolean>>;
  /** What of the input the score is about. */
  appliedTo: Readonly<Record<string, ReadonlyArray<"text" | "image">>>;
}

// ---- speech

export interface SpeechModel extends OpenModel {
  readonly task: "speech";
  /** Its own voices, the usual one first; undefined when an upstream does not say. */
  readonly voices: readonly string[] | undefined;
  /** Names of other services' voices, such as OpenAI's, each with the own voice that speaks for it. */
  readonly voiceAliases: Readonly<Record<string, string>>;
  /** Samples a second of the audio it makes. */
  readonly sampleRate: number;
  /**
   * Streams mono samples (-1 to 1) as they are made, sentence by sentence. Stops early, without throwing, once `signal`
   * aborts. Throws a Fault before the first samples when it cannot honour the request, such as an unknown voice.
   */
  speak(request: SpeechRequest, signal: AbortSignal): AsyncIterable<Float32Array>;
}

export interface SpeechRequest {
  /** The catalog id that was asked for. */
  model: string;
  text: string;
  voice: string;
  /** 0.25 to 4; 1 is the voice's own pace. */
  speed: number;
  /** How to speak, in words. */
  instructions: string | undefined;
  callerHeaders?: CallerHeaders;
}

// ---- transcription

export interface TranscriptionModel extends OpenModel {
  readonly task: "transcription";
  /** ISO 639-1 codes; undefined when an upstream does not say. */
  readonly languages: readonly string[] | undefined;
  /** What a request may ask for beyond the text. */
  readonly abilities: TranscriptionAbilities;
  /**
   * Streams segments as they are recognised, times rising, and ends with exactly one `finish`. Stops early, without
   * throwing, once `signal` aborts.
   */
  transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncIterable<TranscriptionEvent>;
}

export interface TranscriptionAbilities {
  /** Into English. */
  translation: boolean;
  prompt: boolean;
  /** Temperatures other than 0. */
  temperature: boolean;
  wordTimes: boolean;
}

export interface TranscriptionRequest {
  /** The catalog id that was asked for. */
  model: string;
  /** Mono samples, -1 to 1, at 16,000 a second. May be iterated anew, which decodes the file anew. */
  samples: AsyncIterable<Float32Array>;
  /** The upload as it came, for engines that pass it on. */
  file: { path: string; name: string; bytes: number };
  /** True: the answer is English, whatever was spoken. */
  translate: boolean;
  /** ISO 639-1 code; undefined: the model finds out, or has one only. */
  language: string | undefined;
  prompt: string | undefined;
  /** 0 to 1. */
  temperature: number;
  wordTimes: boolean;
  /** Whether parts are passed on as they come; an upstream is then asked for its own stream. */
  stream: boolean;
  callerHeaders?: CallerHeaders;
}

export type TranscriptionEvent =
  | TranscriptSegment
  /** A part of the text without times, of an upstream that streams; only where `stream` is asked for. */
  | { type: "delta"; text: string }
  /** The end. `audioSeconds` is what was listened to; `language` an ISO 639-1 code, undefined when nobody knows. */
  | { type: "finish"; audioSeconds: number; language: string | undefined };

export interface TranscriptSegment {
  type: "segment";
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** Its text came as deltas before. */
  isTold?: true;
  /** Undefined unless asked for. */
  words: readonly TranscriptWord[] | undefined;
  /** What the model says of how sure it is; undefined where it does not. */
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
  /** That it was written at, where it is not the one asked for; undefined when not told. */
  temperature: number | undefined;
}

// ---- opening

/** What an engine may use while it opens a model. */
export interface EngineServices {
  /** For logs and messages: the catalog id, or a name made from it when a model has several deployments. */
  name: string;
  /** The catalog id as configured: a wildcard such as `openai/*` says which part of the id asked for is not sent. */
  catalogId: string;
  /** Fetches a model's files if they are not there yet. */
  pull(reference: ModelReference, signal: AbortSignal): Promise<ModelFiles>;
  logger: Logger;
  /** Aborts when the service stops before the model is open. */
  signal: AbortSignal;
}

/** One of: a manifest id, a file of the user's own, a file on the hub as `owner/repo/path`. */
export type ModelReference = { model: string } | { file: string } | { hf: string };

export interface ModelFiles {
  /** Absolute path of each file, by its name in the manifest. */
  paths: Readonly<Record<string, string>>;
  /** Absolute path of the first file: the weights, where a model is one file. */
  path: string;
}
