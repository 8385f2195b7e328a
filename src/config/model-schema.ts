/** One model of the catalog as parlance.yaml writes it. */

import { z } from "zod";

const ID = /^[\x21-\x29\x2b-\x7e]{1,200}$/;
const WILDCARD = /^[\x21-\x29\x2b-\x7e]{1,198}\/\*$/;

const id = z.string().refine((value) => ID.test(value) || WILDCARD.test(value), {
  error:
    "must be 1 to 200 printable ASCII characters without spaces; * is allowed only as a last /*, for a wildcard such as openai/*",
});

/** Whole and broken digits are bounded so that a price times a count of tokens is exact in integers. */
const dollars = z
  .string({ error: 'must be a decimal in quotes, such as "0.0000001"' })
  .regex(/^\d{1,6}(\.\d{1,15})?$/, {
    error:
      'must be US dollars as a plain decimal in quotes, such as "0.0000001": not negative, no exponent, at most 6 digits before and 15 after the point',
  });

const price = z
  .strictObject({
    prompt: dollars.optional().describe("US dollars per token read (chat, moderation)."),
    cached_prompt: dollars
      .optional()
      .describe("US dollars per token found evaluated already (chat). Left out: as prompt."),
    completion: dollars.optional().describe("US dollars per token written (chat)."),
    character: dollars.optional().describe("US dollars per character spoken (speech)."),
    second: dollars.optional().describe("US dollars per second of audio (transcription)."),
  })
  .describe("What it costs; kept with the model, nothing is charged in this version.");

/** Asked for by name in the documentation of other gateways; a word for each until it is built. */
const LATER_STRATEGIES = ["weighted", "least_busy", "lowest_latency", "lowest_cost"];

const strategy = z.literal("ordered", {
  error: ({ input }) =>
    typeof input === "string" && LATER_STRATEGIES.includes(input.replaceAll("-", "_"))
      ? `"${input}" is not built yet; this version has "ordered" only`
      : 'must be "ordered"',
});

const name = z
  .string()
  .regex(/^[\x21-\x7e]{1,100}$/, { error: "must be 1 to 100 printable ASCII characters without spaces" });

const deployment = z.looseObject({
  engine: z.string().describe("The kind of engine; its own settings stand beside it."),
});

export const model = z.strictObject({
  id: id.describe("What clients write as `model`. A last /* makes a wildcard, which takes every id under it."),
  task: z.enum(["chat", "moderation", "speech", "transcription"]).describe("What the model does."),
  access_groups: z.array(name).max(100).default([]).describe("Names by which permissions speak of several models."),
  aliases: z
    .array(id)
    .max(20)
    .default([])
    .describe("Other ids that mean this model wherever an id is taken, such as whisper-1; the answer names the model."),
  hidden: z
    .boolean()
    .default(false)
    .describe("true: not listed and not found by its own id; it answers by its aliases and as a fallback."),
  owned_by: name.default("parlance").describe("Shown as `owned_by` in the listing."),
  price: price.prefault({}),
  strategy: strategy
    .default("ordered")
    .describe("How a deployment is chosen. ordered: the first one that is well and has room."),
  fallbacks: z
    .array(z.string())
    .max(20)
    .default([])
    .describe("Ids of other models of the same task, tried in order when no deployment can answer."),
  max_queue: z
    .int()
    .min(0)
    .max(10_000)
    .default(100)
    .describe("Requests that may wait for a slot, for each deployment; one more is refused with 503."),
  deployments: z.array(deployment).min(1).max(100).describe("Where the model runs; at least one."),
});
