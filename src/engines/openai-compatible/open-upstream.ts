import { invalidRequest } from "../../kernel/faults.ts";
import type { InProcessModule } from "../define-engine.ts";
import { UpstreamChat } from "./chat/upstream-chat.ts";
import { Connections } from "./connection/connections.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamEmbedding } from "./upstream-embedding.ts";
import { UpstreamImage } from "./upstream-image.ts";
import { UpstreamModeration } from "./upstream-moderation.ts";
import { UpstreamSpeech } from "./upstream-speech.ts";
import { UpstreamTranscription } from "./upstream-transcription.ts";

const UPSTREAM = {
  chat: UpstreamChat,
  embedding: UpstreamEmbedding,
  moderation: UpstreamModeration,
  speech: UpstreamSpeech,
  transcription: UpstreamTranscription,
  image: UpstreamImage,
};

/** Opens the model without a request to the upstream. */
export const open: InProcessModule<OpenAiCompatibleSettings>["open"] = async (settings, task, services) => {
  const { name, catalogId, logger } = services;
  if (settings.endpoints !== undefined) {
    throw invalidRequest("`endpoints` is supported only in a model's deployments.", "endpoints");
  }
  const connections = await Connections.open(settings);
  return new UPSTREAM[task]({ name, catalogId, settings, connections, logger });
};
