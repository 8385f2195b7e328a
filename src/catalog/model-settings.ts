/** One model of `models`. */

import { z } from "zod";
import { guardrailList } from "../contracts/guardrail.ts";
import { TASKS } from "../contracts/task.ts";
import { lazy } from "../kernel/lazy.ts";
import { mapping } from "../kernel/settings/mapping.ts";
import { mirror } from "./mirror-settings.ts";
import { factor, price } from "./price-settings.ts";

const ID = /^[\x21-\x29\x2b-\x7e]{1,200}$/;
const WILDCARD = /^[\x21-\x29\x2b-\x7e]{1,198}\/\*$/;

const id = z.string().refine((value) => ID.test(value) || WILDCARD.test(value), {
  error:
    "must be 1 to 200 printable ASCII characters without spaces; * is allowed only in a trailing /*, which makes a wildcard such as openai/*",
});

/** IDs that a model answers to: exact ones, and prefixes that end in `*`. `/*` is kept for wildcards. */
const ALIAS_PREFIX = /^[\x21-\x29\x2b-\x7e]{0,198}[\x21-\x29\x2b-\x2e\x30-\x7e]\*$/;

const alias = z.string().refine((value) => ID.test(value) || ALIAS_PREFIX.test(value) || WILDCARD.test(value), {
  error:
    "must be 1 to 200 printable ASCII characters without spaces; * is allowed only at the end, after at least one character, which matches every ID with that prefix, such as gpt-5*",
});

export const load = z.enum(["start", "on_demand"]);
export const unloadAfterSeconds = z.number().min(0).max(31_536_000);

const STRATEGIES = [
  "ordered",
  "weighted",
  "least_busy",
  "power_of_two_choices",
  "lowest_latency",
  "lowest_cost",
] as const;

const strategy = z
  .enum(STRATEGIES)
  .default("ordered")
  .describe(
    "How to choose a deployment; if it fails, the others are tried. ordered: the first in the file that is healthy and has a free slot. weighted: at random, in proportion to `weight`. least_busy: the fewest active requests per slot, ties at random. power_of_two_choices: the less busy one of two at random. lowest_latency: the lowest recent time to first token. lowest_cost: the lowest deployment `price`.",
  );

const circuit = mapping(
  () => ({
    failures: z.int().min(1).max(1_000_000).default(5).describe("Consecutive failures that open the circuit."),
    failure_rate: z
      .number()
      .gt(0)
      .max(1)
      .default(0.5)
      .describe(
        "Failure rate over the last 100 attempts (at least 20) above which the circuit opens; 1 disables this check.",
      ),
    cooldown_seconds: z
      .number()
      .min(0.1)
      .max(3600)
      .default(10)
      .describe("Seconds until one request probes whether the deployment has recovered."),
  }),
  "Circuit breaker: when to stop sending requests to a failing deployment.",
);

const name = z
  .string()
  .regex(/^[\x21-\x7e]{1,100}$/, { error: "must be 1 to 100 printable ASCII characters without spaces" });

const maxQueue = z.int().min(0).max(10_000);

/** Options of every deployment, in addition to `engine` and the engine's own settings. */
export const deploymentSettings = mapping(() => ({
  weight: z
    .number()
    .min(0)
    .max(1_000_000)
    .default(1)
    .describe(
      "Weight of the deployment under the `weighted` strategy; 0 uses it only when no other deployment is available.",
    ),
  price: price
    .prefault({})
    .describe(
      "Price of the deployment, for the `lowest_cost` strategy, and for the cost of its requests where the model has no `price`. Default: that of `prices.lists`.",
    ),
  price_factor: factor
    .optional()
    .describe('Discount or surcharge: "0.85" records 85 % of the cost of this deployment\'s requests. Default: none.'),
  prefix_caching: z
    .boolean()
    .default(false)
    .describe(
      "Whether the deployment caches prompt prefixes. If true, requests with the same prompt_cache_key, of the same conversation or with the same long system prompt are routed to the same deployment, within `prefix_load_factor`.",
    ),
  load: load.optional().describe("When to load this deployment's model; overrides `local.load`."),
  unload_after_seconds: unloadAfterSeconds
    .optional()
    .describe(
      "Seconds without a request after which this deployment's model is unloaded; 0 keeps it loaded. Overrides `local.unload_after_seconds`.",
    ),
  max_queue: maxQueue
    .optional()
    .describe(
      "Maximum number of requests that wait for a slot of this deployment; 0 routes to the next deployment at once. Overrides the model's `max_queue`.",
    ),
}));

export type DeploymentSettings = z.output<typeof deploymentSettings>;

const deployment = lazy.looseObject(() => ({
  engine: z.string().describe("Engine that runs the model; each engine has its own settings."),
}));

const defaults = mapping(
  () => ({
    temperature: z.number().min(0).max(2).optional().describe("Sampling temperature, 0 to 2; 0 is greedy."),
    top_p: z.number().min(0).max(1).optional().describe("Nucleus sampling, 0 to 1."),
    top_k: z.int().min(1).optional().describe("Number of most likely tokens to sample from."),
    min_p: z.number().min(0).max(1).optional().describe("Minimum probability of a token, relative to the most likely."),
    frequency_penalty: z.number().min(-2).max(2).optional().describe("Penalty per occurrence of a token."),
    presence_penalty: z.number().min(-2).max(2).optional().describe("Penalty of tokens that occurred."),
    repeat_penalty: z
      .number()
      .gt(0)
      .max(100)
      .optional()
      .describe("Divides the logits of repeated tokens; 1 has no effect."),
    max_completion_tokens: z.int().min(1).optional().describe("Maximum number of generated tokens."),
    reasoning_effort: z.string().min(1).optional().describe("How long a reasoning model reasons, such as low or none."),
  }),
  "Parameters of requests to chat models that leave them out, also of the Responses and the Messages API. A parameter that is not set has the value that the model recommends, or the engine's default.",
);

const cache = mapping(
  () => ({
    ttl_seconds: z
      .int()
      .min(1)
      .max(31_536_000)
      .default(3600)
      .describe("Seconds for which an answer is repeated for equal requests."),
    use: z
      .enum(["always", "on_request"])
      .default("always")
      .describe(
        "always: for every request that does not refuse it. on_request: only for requests with the header x-parlance-cache: on.",
      ),
    sampled: z
      .boolean()
      .default(false)
      .describe(
        "Whether to cache answers of chat requests with a temperature above 0, which includes those that leave it out. A request can ask for it with x-parlance-cache: on.",
      ),
    tools: z
      .boolean()
      .default(false)
      .describe(
        "Whether to cache answers of chat requests with tools. A request can ask for it with x-parlance-cache: on.",
      ),
    shared_within: z
      .enum(["project", "organization"])
      .default("project")
      .describe(
        "project: an answer is repeated within the project that it was given to. organization: within all projects of its organization.",
      ),
  }),
  "Cache of the model's answers, for exactly equal requests. Default: answers are not cached.",
);

export const modelSettings = mapping(() => ({
  id: id.describe(
    "Model ID that clients send as `model`. A trailing /* makes a wildcard that matches every ID with that prefix.",
  ),
  task: z.enum(TASKS).optional().describe("Task of the model; required unless the ID is that of a built-in model."),
  access_groups: z
    .array(name)
    .max(100)
    .default([])
    .describe("Groups for model permissions: a permission for a group covers every model in it."),
  aliases: z
    .array(alias)
    .max(20)
    .default([])
    .describe(
      "Alternative IDs of the model, such as whisper-1. Responses contain the model's own ID. A trailing * matches every ID with that prefix that no ID, exact alias or wildcard matches, such as gpt-5* or claude-*; the longest prefix takes precedence.",
    ),
  hidden: z
    .boolean()
    .default(false)
    .describe("If true, the model is not listed and cannot be requested by its ID, only by an alias or as a fallback."),
  owned_by: name.default("parlance").describe("Value of `owned_by` in GET /v1/models."),
  price: price.prefault({}),
  batch_price: price
    .optional()
    .describe("Price of the model for requests in batches, in the units of `price`. Default: the same as `price`."),
  defaults: defaults.optional(),
  cache: cache.optional(),
  guardrails: guardrailList
    .default([])
    .describe(
      "Guardrails of all requests for the model, after those of the top-level `guardrails` and before those of the project.",
    ),
  strategy,
  retries: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe("Maximum number of retries before the first token. Each deployment is tried at least once regardless."),
  prefix_load_factor: z
    .number()
    .min(1)
    .max(100)
    .default(1.25)
    .describe(
      "For deployments with `prefix_caching`: maximum active requests of a deployment, relative to the mean, up to which it gets the prompts whose prefix it has cached; above, the next deployment in the prefix's order gets them.",
    ),
  circuit: circuit.prefault({}),
  fallbacks: z
    .array(
      z.union([
        z.string(),
        mapping(() => ({
          model: z.string().describe("ID of the model."),
          when: z
            .enum(["unavailable", "context_length", "always"])
            .default("unavailable")
            .describe(
              "`unavailable`: when no deployment is available. `context_length`: when the prompt does not fit the model's context window. `always`: both.",
            ),
        })),
      ]),
    )
    .max(20)
    .default([])
    .describe(
      "Models with the same task to try in order when no deployment is available: IDs, or the ID with `when` for prompts that do not fit the context window, such as `{ model: large, when: context_length }`.",
    ),
  mirror: mirror.optional(),
  max_queue: maxQueue
    .default(100)
    .describe(
      "Maximum number of requests that wait for a slot of one deployment. Further requests go to the next deployment or get a 503.",
    ),
  deployments: z
    .array(deployment)
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Deployments that run the model; at least one. Without it, `id` names a built-in model, which keeps its deployment and gets the other settings.",
    ),
}));

export type ModelSettings = z.output<typeof modelSettings>;
