import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { ScriptedChat } from "./scripted-chat.ts";
import { ScriptedSpeech } from "./scripted-speech.ts";
import { ScriptedTranscription } from "./scripted-transcription.ts";
import type { ScriptedSettings } from "./settings.ts";

/** For tests and demos: replies, delays, failures and crashes are set in the configuration. */
export const scriptedEngine: Engine<ScriptedSettings> = {
  async open(settings, task, { name, logger, signal }) {
    if (task === "speech") {
      if (settings.speech === undefined)
        throw invalidRequest("The task speech needs `speech` in the settings.", "speech");
      return new ScriptedSpeech(settings.speech, settings.slots);
    }
    if (task === "transcription") return new ScriptedTranscription(settings);
    if (task !== "chat")
      throw unsupportedValue(`The engine scripted does not do ${task}; only chat, speech and transcription.`, "task");
    if (settings.process === "parent") return new ScriptedChat(settings);
    const module = siblingModule(import.meta.url, "./scripted-child");
    return hostModel({ name, module, settings, logger, signal });
  },
};
