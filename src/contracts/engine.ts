/** The contract between Parlance and its engines. Types only. */

import type { Logger } from "../kernel/logger.ts";
import type { ChatModel } from "./chat-model.ts";
import type { ImageModel } from "./image-model.ts";
import type { CallerHeaders, OpenModel } from "./open-model.ts";

/** An open model has exactly one task, so calls of another task do not compile. */
export type Model = ChatModel | EmbeddingModel | ImageModel | ModerationModel | SpeechModel | TranscriptionModel;

// ---- embedding

export interface EmbeddingModel extends OpenModel {
  readonly task: "embedding";
  /** Length of its vectors; undefined when an upstream does not say. */
  readonly dimensions: number | undefined;
  /** Tokens of one input that it reads at once; undefined when an upstream does not say. */
  readonly contextWindow: number | undefined;
  /** One vector for each input, in order. Throws a Fault when an input cannot be embedded completely. */
  embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult>;
  /** True for a model in another process that has `rerank`. */
  readonly ranks?: boolean;
  /** Scores documents by itself. Default: the cosine of their vectors. */
  rerank?(request: RerankRequest, signal: AbortSignal): Promise<RerankResult>;
}

/** A text, or token IDs. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingRequest {
  /** The catalog ID that was asked for. */
  model: string;
  inputs: readonly EmbeddingInput[];
  /** Length of the vectors; undefined: the model's own. */
  dimensions: number | undefined;
  /** Whether the caller requested a model by a name of OpenAI's, so it counts tokens with another vocabulary. */
  usesOpenAiName: boolean;
  /** What the caller expects for an input beyond the model's window; undefined: what the deployment says. */
  longInput?: "refuse" | "average" | undefined;
  /** Vocabulary of token IDs in `inputs`; undefined: that of the deployment's setting. */
  tokenIds: "cl100k_base" | "model" | undefined;
  /** `ranking`: the first input is a query, and the others are documents to compare with it. */
  purpose?: "ranking";
  /** Project that the request counts for; requests of several projects take turns. */
  project: string;
  /** Encoding requested from an upstream. */
  encoding: "float" | "base64";
  /** Caller's identifier of its user, for upstreams. */
  user: string | undefined;
  callerHeaders?: CallerHeaders;
}

export interface RerankRequest {
  /** The requested catalog ID. */
  model: string;
  query: string;
  documents: readonly string[];
  /** Project that the request counts for. */
  project: string;
  callerHeaders?: CallerHeaders;
}

export interface RerankResult {
  /** Relevance of each document, in their order. */
  scores: readonly number[];
  promptTokens: number;
  /** Whether `promptTokens` is an estimate. */
  estimated: boolean;
}

export interface EmbeddingResult {
  /** One vector after the other, in the order of the inputs. */
  values: Float32Array;
  dimensions: number;
  promptTokens: number;
  /** Whether `promptTokens` is an estimate. */
  estimated: boolean;
}

// ---- moderation

export interface ModerationModel extends OpenModel {
  readonly task: "moderation";
  /** Undefined when an upstream does not report them. */
  readonly categories: readonly string[] | undefined;
  /** Score from which each category is flagged; undefined when an upstream does not report them. */
  readonly thresholds: Readonly<Record<string, number>> | undefined;
  readonly takesImages: boolean;
  /** ISO 639-1 codes of the languages that it scores reliably; undefined when unknown, for which no text is checked. */
  readonly languages: readonly string[] | undefined;
  /**
   * Returns one verdict for each input, in order. Throws a Fault when part of an input cannot be scored.
   */
  moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    asked?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]>;
}

export interface ModerationContext {
  /** The requested catalog ID. */
  model: string;
  /** Project that the request counts for; requests of several projects take turns. */
  project: string;
  callerHeaders?: CallerHeaders | undefined;
}

/** Text and images, scored together. Images are URLs or data URLs; none for a model that takes no images. */
export interface ModerationInput {
  text: string;
  images: readonly string[];
}

/** Each map has an entry for every category that the model scores. */
export interface ModerationVerdict {
  /** 0 to 1. */
  scores: Readonly<Record<string, number>>;
  flags: Readonly<Record<string, boolean>>;
  /** Parts of the input that the score covers. */
  appliedTo: Readonly<Record<string, ReadonlyArray<"text" | "image">>>;
  /** Name of the input's language if the model certainly does not know it. */
  unsupportedLanguage?: string;
  /** True if a part of the model did not judge in time, or failed: a later verdict may differ. */
  isProvisional?: boolean;
}

// ---- speech

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

// ---- transcription

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
}

/** Speakers whose voices the caller knows; without any, speakers get letters. */
export interface KnownSpeakers {
  names: readonly string[];
  /** A recording of each as a data URL. */
  references: readonly string[];
  /** The recordings as mono samples at 16 kHz. */
  voices?: readonly Float32Array[];
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

// ---- opening

/** Services for an engine that opens a model. */
export interface EngineServices {
  /** For messages: the catalog ID, or a name derived from it when a model has several deployments. */
  name: string;
  /** The catalog ID as configured. A wildcard such as `openai/*` says which part of the requested ID is not sent. */
  catalogId: string;
  /** Downloads a model's files unless they are already in the store. */
  pull(reference: ModelReference, signal: AbortSignal): Promise<ModelFiles>;
  /** Files of a model of the manifest if they are in the store; never downloads. */
  findPulled(id: string): Promise<ModelFiles | undefined>;
  /** Directory for evaluated prompts, and the key that encrypts them; undefined where there is no encryption key. */
  promptCache?: (() => { directory: string; key: Uint8Array } | undefined) | undefined;
  logger: Logger;
  /** Aborts when the service stops before the model is open. */
  signal: AbortSignal;
}

/** A manifest ID, a local file, or a file on the hub as `owner/repo/path`. */
export type ModelReference = { model: string } | { file: string } | { hf: string };

export interface ModelFiles {
  /** Absolute path of each file, by its name in the manifest. */
  paths: Readonly<Record<string, string>>;
  /** Absolute path of the first file: the weights of a single-file model. */
  path: string;
}
