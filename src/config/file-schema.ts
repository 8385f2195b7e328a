/** What parlance.yaml may hold, but for the settings of deployments, which each engine describes itself. */

import { z } from "zod";
import { host, network, port } from "./addresses.ts";
import { limits } from "./limits-schema.ts";
import { load, model, unloadAfterSeconds } from "./model-schema.ts";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const operations = z
  .strictObject({
    host: host.default("127.0.0.1").describe("Address to listen on."),
    port: port.describe("Port to listen on."),
  })
  .describe("Serves /health and /metrics on an address of their own. Left out: on the service's own port.");

const corsOrigin = z.string().refine((value) => value === "*" || URL.parse(value)?.origin === value, {
  error: "must be an origin such as https://chat.example.com, without a path, or *",
});

const server = z
  .strictObject({
    host: host.default("127.0.0.1").describe("Address to listen on; 0.0.0.0 or :: for every network interface."),
    port: port.default(8080).describe("Port to listen on; 0 takes any free one."),
    operations: operations.optional(),
    max_body_bytes: z
      .int()
      .min(1024)
      .max(1024 ** 3)
      .default(20 * 1024 ** 2)
      .describe("Largest JSON body, in bytes; a larger one is refused with 413."),
    max_upload_bytes: z
      .int()
      .min(1024)
      .max(1024 ** 4)
      .default(25 * 1024 ** 2)
      .describe("Largest file sent for transcription, in bytes; a larger one is refused with 413."),
    max_audio_seconds: z
      .int()
      .min(1)
      .max(7 * 86_400)
      .default(6 * 3600)
      .describe("Longest recording sent for transcription, in seconds; a longer one is refused with 400."),
    ffmpeg: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe(
        "FFmpeg's program, a path or a name on PATH, for uploads that the built-in decoders do not read (WMA, AC-3, ALAC and others). Left out: they are refused.",
      ),
    max_moderation_inputs: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1000)
      .describe("Most entries that the `input` of one moderation may have; more are refused with 400."),
    receive_timeout_seconds: z
      .number()
      .min(1)
      .max(3600)
      .default(60)
      .describe("Seconds that a request, headers and body, may take to arrive; then 408."),
    request_timeout_seconds: z
      .number()
      .min(1)
      .max(86400)
      .default(600)
      .describe(
        "Seconds from a request's arrival to its answer's end; then 504, or an error frame in a stream. A client that takes nothing of its answer for twice as long is cut off.",
      ),
    trusted_proxies: z
      .array(network)
      .max(1000)
      .default([])
      .describe(
        "Addresses and networks (10.0.0.0/8) of proxies in front, whose X-Forwarded-For says who the client is. Nobody else's counts.",
      ),
    cors_origins: z
      .array(corsOrigin)
      .max(1000)
      .default([])
      .describe(
        "Origins of web pages, such as https://chat.example.com, whose scripts may call the API from a browser; * allows every page. A key that a page uses is visible to whoever can open that page.",
      ),
    mismatched_ids: z
      .enum(["refuse", "ignore"])
      .default("refuse")
      .describe(
        "What happens to a request whose OpenAI-Organization or OpenAI-Project header names another organization or project than its key's, as clients send when OPENAI_ORG_ID or OPENAI_PROJECT_ID is set for another service. refuse: 401. ignore: the key decides.",
      ),
    drain_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(30)
      .describe("Seconds that running requests may go on after SIGTERM; then they end with an error."),
    database_grace_seconds: z
      .number()
      .min(0)
      .max(86400)
      .default(300)
      .describe("Seconds for which keys that were used lately go on working while the database is away; then 503."),
  })
  .describe("How the service listens and for how long it waits.");

const usage = z
  .strictObject({
    record_days: z
      .int()
      .min(1)
      .max(36_500)
      .default(90)
      .describe("Days for which each request's own usage is kept; the sums by hour and by day stay."),
  })
  .describe("What is kept of what was used.");

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MiB: 2 ** 20, GiB: 2 ** 30 };

const memory = z
  .string()
  .regex(/^\d{1,6}(\.\d+)? ?([MG]i?B)$/, { error: "must be a number and MB, GB, MiB or GiB, such as 8GiB" })
  .transform((value) => {
    const [, number = "", unit = ""] = /^([\d.]+) ?(\w+)$/.exec(value) ?? [];
    return Math.floor(Number(number) * (UNITS[unit] ?? 1));
  });

const local = z
  .strictObject({
    load: load
      .default("on_demand")
      .describe("start: local models are loaded when Parlance starts. on_demand: by the first request for each."),
    unload_after_seconds: unloadAfterSeconds
      .default(300)
      .describe("Seconds without a request after which a local model is unloaded; 0: never."),
    memory: memory
      .optional()
      .describe(
        "Memory that local models may use together, such as 8GiB: the least recently used idle ones are unloaded to make room. Default: three quarters of the machine's memory, or of the container's limit.",
      ),
  })
  .describe("When models that run on this machine are loaded and unloaded.");

const directory = z.string().min(1).max(4096);

export const configFile = z.strictObject({
  builtin_models: z
    .boolean()
    .default(true)
    .describe("Whether the models that Parlance brings are in the catalog, beside those of `models`."),
  default_aliases: z
    .boolean()
    .default(true)
    .describe(
      "Whether OpenAI's model names, such as whisper-1 and tts-1, are aliases of the built-in default models. A model or alias of the same name in `models` wins.",
    ),
  models: z.array(model).max(10_000).default([]).describe("The models of your own, in the order of the listing."),
  server: server.prefault({}),
  limits: limits.prefault({}),
  usage: usage.prefault({}),
  local: local.prefault({}),
  log_level: z.enum(LOG_LEVELS).default("info").describe("Least grave log line that is written."),
  data_directory: directory
    .optional()
    .describe(
      "Holds the database and the models; relative to this file. Left out: .parlance in the working directory.",
    ),
  models_directory: directory
    .optional()
    .describe("Holds the model files; relative to this file. Left out: models in the data directory."),
});

export type ConfigFile = z.output<typeof configFile>;
