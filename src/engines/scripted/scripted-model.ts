import { invalidRequest } from "../../kernel/faults.ts";
import type { InProcessModule } from "../define-engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { ScriptedChat } from "./scripted-chat.ts";
import { ScriptedImages } from "./scripted-images.ts";
import { ScriptedSpeech } from "./scripted-speech.ts";
import { ScriptedTranscription } from "./scripted-transcription.ts";
import type { ScriptedSettings } from "./settings.ts";

export const open: InProcessModule<ScriptedSettings>["open"] = async (settings, task, { name, logger, signal }) => {
  if (task === "speech") {
    if (settings.speech === undefined)
      throw invalidRequest("The task speech needs `speech` in the settings.", "speech");
    return new ScriptedSpeech(settings.speech, settings.slots);
  }
  if (task === "image") return new ScriptedImages(settings);
  if (task === "transcription") return new ScriptedTranscription(settings);
  if (settings.process === "parent") return new ScriptedChat(settings);
  const module = siblingModule(import.meta.url, "./scripted-chat");
  return hostModel({ name, module, settings, logger, signal });
};
