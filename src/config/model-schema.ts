/** One model of the catalog as parlance.yaml writes it. */

import { z } from "zod";
import { TASKS } from "../engines/task.ts";

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
    prompt: dollars
      .optional()
      .describe("US dollars per token read (chat, and moderation, where four bytes count as a token)."),
    cached_prompt: dollars
      .optional()
      .describe("US dollars per token found evaluated already (chat). Left out: as prompt."),
    completion: dollars.optional().describe("US dollars per token written (chat)."),
    character: dollars.optional().describe("US dollars per character spoken (speech)."),
    second: dollars.optional().describe("US dollars per second of audio (transcription)."),
  })
  .describe(
    "What it costs: each request is recorded with its cost. Left out: the cost is unknown, which is not nothing.",
  );

export const load = z.enum(["start", "on_demand"]);
export const unloadAfterSeconds = z.number().min(0).max(31_536_000);

const STRATEGIES = ["ordered", "weighted", "least_busy", "lowest_latency", "lowest_cost"] as const;

const strategy = z
  .enum(STRATEGIES)
  .default("ordered")
  .describe(
    "How a deployment is chosen, the others being tried after it. ordered: the first in the file that is well and has room. weighted: by chance, after `weight`. least_busy: the fewest requests for each slot. lowest_latency: the shortest time to the first token of late. lowest_cost: the lowest `price` of its own.",
  );

const circuit = z
  .strictObject({
    failures: z.int().min(1).max(1_000_000).default(5).describe("Failures in a row that open it."),
    failure_rate: z
      .number()
      .gt(0)
      .max(1)
      .default(0.5)
      .describe(
        "Share of the last 100 attempts (once there were 20) above which failures open it; 1: never by their share.",
      ),
    rest_seconds: z
      .number()
      .min(0.1)
      .max(3600)
      .default(10)
      .describe("Seconds until one request probes whether the deployment is well again."),
  })
  .describe("When a deployment that fails is left alone for a while.");

const name = z
  .string()
  .regex(/^[\x21-\x7e]{1,100}$/, { error: "must be 1 to 100 printable ASCII characters without spaces" });

const maxQueue = z.int().min(0).max(10_000);

/** What a deployment may say beside `engine` and its engine's own settings. */
export const deploymentTerms = z.strictObject({
  weight: z
    .number()
    .min(0)
    .max(1_000_000)
    .default(1)
    .describe("Its share under the strategy `weighted`; 0: only when no other can answer."),
  price: price.prefault({}).describe("What it costs its operator, for the strategy `lowest_cost`; left out: nothing."),
  reuses_prefixes: z
    .boolean()
    .default(false)
    .describe(
      "true: it finds the beginning of an earlier prompt evaluated already, so that requests with one prompt_cache_key, or whose prompts begin alike, are sent to it again.",
    ),
  load: load.optional().describe("When a local model is loaded, as `local.load`, for this deployment."),
  unload_after_seconds: unloadAfterSeconds
    .optional()
    .describe("As `local.unload_after_seconds`, for this deployment; 0: never."),
  max_queue: maxQueue.optional().describe("As the model's `max_queue`, for this deployment; 0 sends on at once."),
});

const deployment = z.looseObject({
  engine: z.string().describe("The kind of engine; its own settings stand beside it."),
});

export const model = z.strictObject({
  id: id.describe("What clients write as `model`. A last /* makes a wildcard, which takes every id under it."),
  task: z.enum(TASKS).describe("What the model does."),
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
  strategy,
  retries: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe("Attempts after the first, before the first token only; each deployment is tried once in any case."),
  circuit: circuit.prefault({}),
  fallbacks: z
    .array(z.string())
    .max(20)
    .default([])
    .describe("Ids of other models of the same task, tried in order when no deployment can answer."),
  max_queue: maxQueue
    .default(100)
    .describe("Requests that may wait for a slot, for each deployment; one more is sent on, or refused with 503."),
  deployments: z.array(deployment).min(1).max(100).describe("Where the model runs; at least one."),
});
