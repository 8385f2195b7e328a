import { unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { ScriptedChat } from "./scripted-chat.ts";
import type { ScriptedSettings } from "./settings.ts";

/** For tests and demos: replies, delays and failures are set in the configuration. */
export const scriptedEngine: Engine<ScriptedSettings> = {
  async open(settings, task) {
    if (task !== "chat") throw unsupportedValue(`The engine scripted does not do ${task}; only chat.`, "task");
    return new ScriptedChat(settings);
  },
};
