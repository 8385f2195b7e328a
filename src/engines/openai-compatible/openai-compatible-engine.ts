import { unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { Connections } from "./connections.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamChat } from "./upstream-chat.ts";
import { UpstreamSpeech } from "./upstream-speech.ts";
import { UpstreamTranscription } from "./upstream-transcription.ts";

/** Any upstream with OpenAI's API: vLLM, llama-server, Ollama, a host on the internet. Opening it asks nothing of the upstream. */
export const openAiCompatibleEngine: Engine<OpenAiCompatibleSettings> = {
  async open(settings, task, { name, catalogId, logger }) {
    if (task === "moderation") {
      const message = `The engine openai-compatible does not do ${task} yet; only chat, speech and transcription.`;
      throw unsupportedValue(message, "task");
    }
    const connections = await Connections.open(settings);
    if (task === "transcription") return new UpstreamTranscription({ name, catalogId, settings, connections, logger });
    if (task === "speech") return new UpstreamSpeech({ name, catalogId, settings, connections, logger });
    return new UpstreamChat({ name, catalogId, settings, connections, logger });
  },
};
