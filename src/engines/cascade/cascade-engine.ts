import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { Secret } from "../../kernel/secret.ts";
import { defineEngine } from "../define-engine.ts";

const stage = lazy.looseObject(() => ({ engine: z.string().describe("A moderation engine") }));

const settings = lazy
  .strictObject(() => ({
    classifier: stage
      .default({ engine: "classifier" })
      .describe("Moderation deployment that scores every text: its `engine` and the settings of that engine"),
    guard: stage.describe(
      "Moderation deployment that is asked about a text that `classifier` is unsure about: its `engine` and the settings of that engine",
    ),
    band: z
      .strictObject({
        below: z.number().min(0).max(1).default(0.3).describe("Distance below the threshold"),
        above: z.number().min(0).max(1).default(0.2).describe("Distance above the threshold"),
        below_by_category: z
          .record(z.string(), z.number().min(0).max(1))
          .default({ violence: 0.45, "harassment/threatening": 0.45, "hate/threatening": 0.45 })
          .describe(
            "Distance below the threshold of single categories. Default: a wider one for threats, which often name no act",
          ),
      })
      .prefault({})
      .transform(({ below_by_category: belowByCategory, ...band }) => ({ ...band, belowByCategory }))
      .describe(
        "Scores of `classifier` around a category's threshold that count as unsure. A text with a category further above its threshold is flagged without asking",
      ),
    guard_weight: z
      .number()
      .gt(0)
      .max(100)
      .default(1)
      .describe("Factor of the log odds that the guard adds to the scores within the band"),
    on_guard_failure: z
      .enum(["error", "classifier"])
      .default("error")
      .describe(
        "error: a request with an unsure text fails while the guard does. classifier: the classifier alone answers, and a warning is logged",
      ),
    guard_max_characters: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe("Longest text that the guard is asked about; longer ones take it longer. Default: no limit"),
    guard_timeout_ms: z
      .number()
      .int()
      .min(1)
      .max(600_000)
      .optional()
      .describe(
        "Milliseconds in which the guard judges the unsure texts of a request; the classifier alone answers for the others. Default: no limit",
      ),
  }))
  // They may hold an upstream's key, which only that engine's schema marks as a secret.
  .transform(({ classifier, guard, band, ...rest }) => ({
    ...{ band, guardWeight: rest.guard_weight, onGuardFailure: rest.on_guard_failure },
    guardMaxCharacters: rest.guard_max_characters,
    guardTimeoutMs: rest.guard_timeout_ms,
    ...{ classifier: new Secret(JSON.stringify(classifier)), guard: new Secret(JSON.stringify(guard)) },
  }));

/** A classifier, and a guard for the texts that it is unsure about. */
export const cascadeEngine = defineEngine({
  name: "cascade",
  tasks: ["moderation"],
  settings,
  nested: ({ classifier, guard }) => ({
    classifier: { task: "moderation", deployment: classifier },
    guard: { task: "moderation", deployment: guard },
  }),
  describedAs: "classifier",
  module: () => import("./cascade-model.ts"),
});
