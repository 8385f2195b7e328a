import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { ClassifierFiles, ClassifierOptions } from "./classifier.ts";
import { describeClassifier, languagesOf } from "./describe-classifier.ts";
import { readHead } from "./head.ts";

const ENGLISH_FILES = ["model.safetensors", "tokenizer.json", "tokenizer_config.json"] as const;
/** The model that scores other languages and images, and its further files. */
const OMNI = "moderation-omni";
const FOREIGN_FILE = "e5-small-q4.bin";
const IMAGE_FILE = "open-nsfw.onnx";

const score = z.number().min(0).max(1);

const settings = z
  .strictObject({
    model: z
      .string()
      .min(1)
      .default("moderation-omni")
      .describe(
        "ID of a built-in moderation model: `moderation-omni` for fifteen languages and images, or `moderation-minilm` for English alone",
      ),
    thresholds: z
      .record(z.string(), score)
      .default({})
      .describe("Score from which a category is flagged, by category. Default: the model card's thresholds"),
    threads: z.int().min(1).max(1024).optional().describe("Default: one per core, at most 4"),
    max_characters: z
      .int()
      .min(1000)
      .max(100_000_000)
      .default(1_000_000)
      .describe("Maximum characters of all inputs of a request; a longer request is refused, never truncated"),
  })
  .transform(({ max_characters: maxCharacters, ...rest }) => ({ ...rest, maxCharacters }));

/** Text classifiers trained for moderation. */
export const classifierEngine = defineEngine({
  name: "classifier",
  tasks: ["moderation"],
  settings,
  module: siblingModule(import.meta.url, "./classifier"),
  async describe({ model, thresholds }) {
    const isOmni = model === OMNI;
    return describeClassifier(
      await readHead(),
      { languages: await languagesOf(isOmni), takesImages: isOmni },
      thresholds,
    );
  },
  async prepare({ model, threads, ...rest }, _task, { pull, signal }): Promise<ClassifierOptions> {
    const categories = ["sexual/minors", ...(await readHead()).categories];
    const unknown = Object.keys(rest.thresholds).find((category) => !categories.includes(category));
    if (unknown !== undefined) {
      const message = `\`thresholds\` names the category ${unknown}, which this model does not score. Its categories are ${categories.toSorted().join(", ")}.`;
      throw invalidRequest(message, "thresholds");
    }
    const { paths } = await pull({ model }, signal);
    const [weights = "", tokenizer = "", tokenizerConfig = ""] = ENGLISH_FILES.map((file) => paths[file]);
    const [foreign, images] = [paths[FOREIGN_FILE], paths[IMAGE_FILE]];
    const files: ClassifierFiles = { weights, tokenizer, tokenizerConfig, foreign, images };
    return { ...rest, threads, files };
  },
});
