/** Built-in models without files of their own: installed with Parlance, or run from the files of another model. */

import type { BundledModel } from "./bundled-model.ts";
import { MODERATION_QWEN } from "./moderation-qwen.ts";

export const BUNDLED_MODELS: readonly BundledModel[] = [
  {
    id: "all-minilm-l6-v2",
    task: "embedding",
    engine: "sentence-embeddings",
    license: "Apache-2.0",
    description: "English sentence embeddings with 384 dimensions, from the files of moderation-minilm",
    languages: "English",
    dimensions: 384,
    engineSettings: { model: "moderation-minilm" },
  },
  {
    id: "flite",
    task: "speech",
    engine: "flite",
    license: "BSD-like (Carnegie Mellon University)",
    description: "Four simple voices that work everywhere; the fallback of the default voice",
    languages: "English",
    // Alias of the default model's voice, to answer requests for it as a fallback.
    engineSettings: { voices: { heart: "slt" } },
  },
  MODERATION_QWEN,
];
