/** The contract between Parlance and its engines. Types only. */

import type { Logger } from "../kernel/logger.ts";
import type { ChatModel } from "./chat-model.ts";
import type { EmbeddingModel } from "./embedding-model.ts";
import type { ImageModel } from "./image-model.ts";
import type { ModerationModel } from "./moderation-model.ts";
import type { SpeechModel } from "./speech-model.ts";
import type { TranscriptionModel } from "./transcription-model.ts";

/** An open model has exactly one task, so calls of another task do not compile. */
export type Model = ChatModel | EmbeddingModel | ImageModel | ModerationModel | SpeechModel | TranscriptionModel;

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
