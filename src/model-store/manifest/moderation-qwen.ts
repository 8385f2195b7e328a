/** The default classifier, with a chat model as a guard for the texts that it is unsure about. */

import type { BundledModel } from "./bundled-model.ts";

const CHAT_MODEL = "qwen2.5-coder-1.5b-instruct";

/** This and the band were chosen on public sets: docs/decisions/0054 and 0084. */
const GUARD_THRESHOLD = 0.75;
const GUARD_CATEGORIES = ["harassment", "hate", "illicit", "self-harm", "sexual", "violence"];

export const MODERATION_QWEN: BundledModel = {
  id: "moderation-qwen",
  task: "moderation",
  engine: "cascade",
  requires: CHAT_MODEL,
  license: "Apache-2.0",
  description:
    "Stronger (2.7 GB of memory): moderation-omni, which asks qwen2.5-coder-1.5b-instruct about unsure texts, in about a second each",
  languages: "English and 14 others",
  preferredOn: { cores: 4, budgetBytes: 5.5e9 },
  fallbacks: ["moderation-omni"],
  engineSettings: {
    classifier: { engine: "classifier", model: "moderation-omni" },
    guard: {
      engine: "guard",
      family: "instruct",
      thresholds: Object.fromEntries(GUARD_CATEGORIES.map((category) => [category, GUARD_THRESHOLD])),
      // The first question evaluates the policy, which the slots of later ones copy.
      parallel: 1,
      chat: { engine: "llama-cpp", model: CHAT_MODEL, context_size: 4096, slots: 2 },
    },
    band: { below: 0.25, above: 0.2, below_by_category: {} },
    guard_weight: 0.5,
    guard_max_characters: 1000,
    guard_timeout_ms: 3000,
    on_guard_failure: "classifier",
  },
};
