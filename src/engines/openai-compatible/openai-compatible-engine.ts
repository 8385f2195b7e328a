import type { Engine } from "../engine.ts";
import { Connections } from "./connections.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamChat } from "./upstream-chat.ts";
import { UpstreamModeration } from "./upstream-moderation.ts";
import { UpstreamSpeech } from "./upstream-speech.ts";
import { UpstreamTranscription } from "./upstream-transcription.ts";

const UPSTREAM = {
  chat: UpstreamChat,
  moderation: UpstreamModeration,
  speech: UpstreamSpeech,
  transcription: UpstreamTranscription,
};

/** Any upstream with OpenAI's API: vLLM, llama-server, Ollama, a host on the internet. Opening it asks nothing of the upstream. */
export const openAiCompatibleEngine: Engine<OpenAiCompatibleSettings> = {
  async open(settings, task, { name, catalogId, logger }) {
    const connections = await Connections.open(settings);
    return new UPSTREAM[task]({ name, catalogId, settings, connections, logger });
  },
};
