import { unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { Connections } from "./connections.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamChat } from "./upstream-chat.ts";

/** Any upstream with OpenAI's API: vLLM, llama-server, Ollama, a host on the internet. Opening it asks nothing of the upstream. */
export const openAiCompatibleEngine: Engine<OpenAiCompatibleSettings> = {
  async open(settings, task, { name, catalogId, logger }) {
    if (task !== "chat") {
      throw unsupportedValue(`The engine openai-compatible does not do ${task} yet; only chat.`, "task");
    }
    const connections = await Connections.open(settings);
    return new UpstreamChat({ name, catalogId, settings, connections, logger });
  },
};
