import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { ClassifierFiles } from "./classifier.ts";
import { readHead } from "./head.ts";
import type { ClassifierSettings } from "./settings.ts";

const FILES = ["model.safetensors", "tokenizer.json", "tokenizer_config.json"] as const;

/** The text classifier that comes with Parlance, in a supervised process of its own. */
export const classifierEngine: Engine<ClassifierSettings> = {
  async open({ model, ...settings }, task, { pull, name, logger, signal }) {
    if (task !== "moderation") {
      throw unsupportedValue(`The engine classifier does not do ${task}; only moderation.`, "task");
    }
    const known = ["sexual/minors", ...(await readHead()).categories];
    const unknown = Object.keys(settings.thresholds).find((category) => !known.includes(category));
    if (unknown !== undefined) {
      const message = `\`thresholds\` names the category ${unknown}, which the model does not know; it knows ${known.toSorted().join(", ")}.`;
      throw invalidRequest(message, "thresholds");
    }
    const { paths } = await pull({ model }, signal);
    const [weights = "", tokenizer = "", tokenizerConfig = ""] = FILES.map((file) => paths[file]);
    const files: ClassifierFiles = { weights, tokenizer, tokenizerConfig };
    const module = siblingModule(import.meta.url, "./classifier-child");
    return hostModel({ name, module, settings: { ...settings, files }, logger, signal });
  },
};
