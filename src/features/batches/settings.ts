/** Section `batches`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const batchSettings = mapping(
  () => ({
    max_lines: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(50_000)
      .describe("Maximum number of requests in one batch; a longer input fails."),
    concurrent_lines: z
      .int()
      .min(1)
      .max(1000)
      .default(8)
      .describe("Requests of one batch that run or wait for a slot at the same time."),
    concurrent_batches: z
      .int()
      .min(1)
      .max(100)
      .default(4)
      .describe("Batches that one replica runs at the same time; further ones wait, and projects take turns."),
  }),
  "Batches of requests.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    batches: z.output<typeof batchSettings>;
  }
}
