import { unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { KokoroSettings } from "./settings.ts";

/** Kokoro and the small voices that were distilled from it, in a supervised process of their own. */
export const kokoroEngine: Engine<KokoroSettings> = {
  async open({ model, ...settings }, task, { pull, name, logger, signal }) {
    if (task !== "speech") throw unsupportedValue(`The engine kokoro does not do ${task}; only speech.`, "task");
    const { paths } = await pull({ model }, signal);
    const module = siblingModule(import.meta.url, "./kokoro-child");
    return hostModel({ name, module, settings: { ...settings, paths }, logger, signal });
  },
};
