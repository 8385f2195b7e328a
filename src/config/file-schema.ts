/** Schema of parlance.yaml, except for the settings of deployments, which each engine defines. */

import { z } from "zod";
import { batches, files } from "./files-schema.ts";
import { limits } from "./limits-schema.ts";
import { load, model, unloadAfterSeconds } from "./model-schema.ts";
import { ollama } from "./ollama-schema.ts";
import { opentelemetry } from "./opentelemetry-schema.ts";
import { realtime } from "./realtime-schema.ts";
import { server } from "./server-schema.ts";
import { directory, memory } from "./sizes.ts";
import { webhooks } from "./webhook-schema.ts";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const usage = z
  .strictObject({
    record_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(90)
      .describe("Days to keep usage by the minute; hourly and daily totals are kept indefinitely."),
    request_days: z
      .int()
      .min(0)
      .max(3650)
      .default(7)
      .describe(
        "Days to keep the metadata of each request (model, deployment, times, tokens, error), which GET /v1/organization/requests lists; never its content. 0 records none.",
      ),
  })
  .describe("Retention of usage records.");

const responses = z
  .strictObject({
    store: z
      .boolean()
      .default(true)
      .describe(
        "Whether responses and conversations are stored, encrypted, unless a request says `store: false`. false: nothing is stored.",
      ),
    keep_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(30)
      .describe("Days to keep a stored response or conversation after its last use."),
    max_size_per_project: memory
      .prefault("5GiB")
      .describe(
        "Maximum size of the responses and conversations that one project stores, such as 500MB. Beyond it, further responses are answered with `store: false`, and conversations and background responses are refused.",
      ),
  })
  .describe("Storage of the Responses API.");

const local = z
  .strictObject({
    load: load
      .default("on_demand")
      .describe(
        "When to load local models. start: when Parlance starts. on_demand: at the first request for the model.",
      ),
    unload_after_seconds: unloadAfterSeconds
      .default(300)
      .describe("Seconds without a request after which a local model is unloaded; 0 keeps it loaded."),
    memory: memory
      .optional()
      .describe(
        "Memory that all local models may use together, such as 8GiB; the least recently used idle models are unloaded to make room. Default: three quarters of the machine's memory or of the container's limit.",
      ),
    default_chat_model: z
      .string()
      .min(1)
      .max(200)
      .default("auto")
      .describe(
        "Built-in chat model that is listed first and shown in examples once its files are on the disk. auto: a larger model than smollm2-135m-instruct where memory allows, qwen2.5-coder-1.5b-instruct (1.1 GB) with 4 GB of free memory or qwen2.5-coder-0.5b-instruct (491 MB) with 2 GB. It is downloaded in the background after the start, unless `models` has a chat model or CI is true. An ID: this model, downloaded in the background. smollm2-135m-instruct: no further download.",
      ),
  })
  .describe("Loading and unloading of models that run on this machine.");

export const configFile = z.strictObject({
  builtin_models: z
    .boolean()
    .default(true)
    .describe("Whether to serve the built-in models in addition to those in `models`."),
  default_aliases: z
    .boolean()
    .default(true)
    .describe(
      "Whether OpenAI's model names, such as whisper-1 and tts-1, are aliases of the built-in default models, and claude-* and gpt-realtime* of the first chat model. A model, alias or wildcard in `models` that matches the name takes precedence.",
    ),
  models: z
    .array(model)
    .max(10_000)
    .default([])
    .describe("Models to serve, in the order in which GET /v1/models lists them."),
  server: server.prefault({}),
  limits: limits.prefault({}),
  usage: usage.prefault({}),
  responses: responses.prefault({}),
  files: files.prefault({}),
  batches: batches.prefault({}),
  ollama: ollama.prefault({}),
  realtime: realtime.prefault({}),
  local: local.prefault({}),
  webhooks,
  opentelemetry: opentelemetry.optional(),
  log_level: z.enum(LOG_LEVELS).default("info").describe("Minimum log level."),
  data_directory: directory
    .optional()
    .describe(
      "Directory of the SQLite database and the models, relative to this file. Default: .parlance in the working directory.",
    ),
  models_directory: directory
    .optional()
    .describe("Directory of the model files, relative to this file. Default: models in the data directory."),
});

export type ConfigFile = z.output<typeof configFile>;
