/** Description of a model for clients, which is available before the model is loaded. */

import type { ChatModel } from "./chat-model.ts";
import type { EmbeddingModel } from "./embedding-model.ts";
import type { ImageModel } from "./image-model.ts";
import type { ModerationModel } from "./moderation-model.ts";
import type { SpeechModel } from "./speech-model.ts";
import type { TranscriptionModel } from "./transcription-model.ts";

type Described<Model extends { task: string }, Facts extends keyof Model> = Pick<Model, "task"> &
  Partial<Pick<Model, Facts>>;

/** Facts that are undefined are not known before the model has been loaded. */
export type ModelDescription =
  | Described<ChatModel, "contextWindow" | "contextReason" | "abilities">
  | Described<EmbeddingModel, "dimensions" | "contextWindow">
  | Described<ModerationModel, "categories" | "thresholds" | "languages" | "takesImages">
  | Described<SpeechModel, "voices" | "voiceAliases" | "languages" | "voiceLanguages" | "wordTimes">
  | Described<TranscriptionModel, "languages" | "abilities">
  | Described<ImageModel, "abilities">;
