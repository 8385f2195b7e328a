/** The default classifier, with a chat model as a guard for the texts that it is unsure about. */

import type { BundledModel } from "./bundled-model.ts";

const CHAT_MODEL = "qwen2.5-coder-1.5b-instruct";

/** Chosen on the validation part of the public sets: see docs/decisions/0054. */
const GUARD_THRESHOLD = 0.75;
const GUARD_CATEGORIES = ["harassment", "hate", "illicit", "self-harm", "sexual", "violence"];

export const MODERATION_QWEN: BundledModel = {
  id: "moderation-qwen",
  task: "moderation",
  engine: "cascade",
  requires: CHAT_MODEL,
  license: "Apache-2.0",
  description:
    "Stronger (2.7 GB of memory): moderation-minilm, which asks qwen2.5-coder-1.5b-instruct about unsure texts, in about a second each",
  languages: "15 languages; unsure texts of all of them are asked about",
  preferredOn: { cores: 4, budgetBytes: 5.5e9 },
  fallbacks: ["moderation-omni"],
  engineSettings: {
    // Band and threshold were chosen and measured with English texts.
    classifier: { engine: "classifier", model: "moderation-omni" },
    guard: {
      engine: "guard",
      family: "instruct",
      thresholds: Object.fromEntries(GUARD_CATEGORIES.map((category) => [category, GUARD_THRESHOLD])),
      // The first question evaluates the policy, which the slots of later ones copy.
      parallel: 1,
      chat: { engine: "llama-cpp", model: CHAT_MODEL, context_size: 4096, slots: 2 },
    },
  },
};
