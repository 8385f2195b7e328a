/** Section `evals`. */

import type { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";
import { memory } from "../../kernel/settings/sizes.ts";

export const evalSettings = mapping(
  () => ({
    max_size_per_project: memory
      .prefault("5GiB")
      .describe(
        "Maximum size of the evals, runs and results that one project stores, such as 500MB. Beyond it, new evals and runs get a 429, and a run that has begun fails.",
      ),
  }),
  "Evals of models and prompts.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    evals: z.output<typeof evalSettings>;
  }
}
