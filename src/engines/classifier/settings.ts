/** What a deployment of this engine may say in the configuration. */

import { z } from "zod";

const share = z.number().min(0).max(1);

export const classifierSettings = z
  .strictObject({
    model: z.string().min(1).default("moderation-minilm").describe("A moderation model that Parlance knows"),
    thresholds: z
      .record(z.string(), share)
      .default({})
      .describe("By category, the score from which it is flagged. Left out: the model card's"),
    threads: z.int().min(1).max(1024).optional().describe("Left out: one for each core, up to 4"),
    max_characters: z
      .int()
      .min(1000)
      .max(100_000_000)
      .default(1_000_000)
      .describe("Characters that one request may have in all; more are refused, never cut"),
  })
  .transform(({ max_characters: maxCharacters, ...rest }) => ({ ...rest, maxCharacters }));

export type ClassifierSettings = z.output<typeof classifierSettings>;
