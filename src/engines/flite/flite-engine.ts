import { unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { FliteSettings } from "./settings.ts";

/** The voices of Carnegie Mellon's flite, which are installed with Parlance, in a supervised process of their own. */
export const fliteEngine: Engine<FliteSettings> = {
  async open(settings, task, { name, logger, signal }) {
    if (task !== "speech") throw unsupportedValue(`The engine flite does not do ${task}; only speech.`, "task");
    const module = siblingModule(import.meta.url, "./flite-child");
    return hostModel({ name, module, settings, logger, signal });
  },
};
