/** The channels of requests for other tasks than chat. */

import type { EmbeddingRequest, RerankRequest } from "../../contracts/embedding-model.ts";
import type { ImageFile, ImageRequest } from "../../contracts/image-model.ts";
import type { SpeechRequest } from "../../contracts/speech-model.ts";
import type { TranscriptionRequest } from "../../contracts/transcription-model.ts";
import { type Channels, each, fieldsOf } from "./channels.ts";

export const EMBEDDING: Channels<Omit<EmbeddingRequest, "model" | "usesOpenAiName" | "project">> = {
  inputs: each("prompt"),
  user: "prompt",
  dimensions: "none",
  longInput: "none",
  tokenIds: "none",
  purpose: "none",
  encoding: "none",
  callerHeaders: "none",
};

export const RERANKING: Channels<Omit<RerankRequest, "model" | "project">> = {
  query: "prompt",
  documents: each("prompt"),
  callerHeaders: "none",
};

export const SPEECH: Channels<Omit<SpeechRequest, "model">> = {
  text: "prompt",
  instructions: "prompt",
  voice: "word",
  speed: "none",
  wordTimes: "none",
  // Made after the guardrails, of what has passed them.
  rewritten: "none",
  callerHeaders: "none",
};

/** Images are refused, or pass by the operator's choice; see `unreadable`. */
const IMAGE_FILE: Channels<ImageFile> = { name: "prompt", type: "none", bytes: "none", open: "none" };

export const IMAGE: Channels<Omit<ImageRequest, "model">> = {
  prompt: "prompt",
  images: each(fieldsOf(IMAGE_FILE)),
  mask: fieldsOf(IMAGE_FILE),
  options: "structure",
  operation: "none",
  count: "none",
  size: "none",
  format: "none",
  compression: "none",
  partialImages: "none",
  stream: "none",
  callerHeaders: "none",
};

const AUDIO_FILE: Channels<TranscriptionRequest["file"]> = { name: "prompt", bytes: "none", open: "none" };
const SPEAKERS: Channels<NonNullable<TranscriptionRequest["speakers"]>> = {
  names: each("prompt"),
  references: "none",
  readVoices: "none",
  voices: "none",
};

/** The recording itself has no text yet; its transcript is guarded. */
export const TRANSCRIPTION: Channels<Omit<TranscriptionRequest, "model" | "project">> = {
  prompt: "prompt",
  file: fieldsOf(AUDIO_FILE),
  speakers: fieldsOf(SPEAKERS),
  language: "word",
  samples: "none",
  translate: "none",
  temperature: "none",
  wordTimes: "none",
  stream: "none",
  callerHeaders: "none",
};
