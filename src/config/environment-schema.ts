/** Schema of the environment variables that Parlance reads. An empty variable counts as unset. */

import { z } from "zod";
import { lazy } from "../kernel/lazy.ts";
import { parseRedisUrl } from "../kernel/redis-address.ts";
import { Secret } from "../kernel/secret.ts";
import { host, port } from "../kernel/settings/addresses.ts";
import { LOG_LEVELS } from "./file-schema.ts";
import { openTelemetryVariables } from "./opentelemetry-variables.ts";

const KEY_BOUND = "must be 32 to 512 printable ASCII characters without whitespace";

const key = z
  .string()
  .regex(/^[\x21-\x7e]{32,512}$/, { error: KEY_BOUND })
  .transform((value) => new Secret(value));

/** Keys separated by commas: the first encrypts, the others only decrypt. */
const encryptionKeys = z
  .string()
  .regex(/^[\x21-\x2b\x2d-\x7e]{32,512}(,[\x21-\x2b\x2d-\x7e]{32,512})*$/, {
    error: "must be keys of 32 to 512 printable ASCII characters without whitespace, separated by commas",
  })
  .transform((value) => value.split(",").map((each) => new Secret(each)) as [Secret, ...Secret[]]);

/** Kubernetes sets PARLANCE_PORT to `tcp://…` in every pod of a namespace that has a Service named `parlance`. */
const SERVICE_LINK = "was set by Kubernetes for a Service named parlance; set enableServiceLinks: false on the pod";

const portText = z
  .string()
  .refine((value) => !value.startsWith("tcp://"), { error: SERVICE_LINK, abort: true })
  .transform((value) => (/^\d{1,5}$/.test(value) ? Number(value) : Number.NaN))
  .pipe(port);

const YES = ["1", "true", "yes", "on"];
const NO = ["0", "false", "no", "off"];

function flag(error: string) {
  return z
    .string()
    .refine((value) => [...YES, ...NO].includes(value.toLowerCase()), { error })
    .transform((value) => YES.includes(value.toLowerCase()));
}

function urlOf(protocols: readonly string[], needsHost: boolean) {
  return z.string().refine(
    (value) => {
      const url = URL.parse(value);
      return url !== null && protocols.includes(url.protocol) && (!needsHost || url.hostname !== "");
    },
    { error: `must be a URL that begins with ${protocols.map((each) => `${each}//`).join(" or ")}` },
  );
}

const redisAddress = z.string().transform((value, context) => {
  try {
    return parseRedisUrl(value);
  } catch (failure) {
    context.issues.push({ code: "custom", message: (failure as Error).message, input: undefined });
    return z.NEVER;
  }
});

const secretText = (schema: z.ZodType<string, string>) => schema.transform((value) => new Secret(value));

const path = z.string().max(4096);

export const environmentSchema = lazy.object(() => ({
  PARLANCE_CONFIG: path
    .optional()
    .describe("Path of the configuration file. Default: parlance.yaml in the working directory, if it exists."),
  PARLANCE_HOST: host.optional().describe("Address to listen on; overrides server.host."),
  PARLANCE_PORT: portText.optional().describe("Port to listen on; overrides server.port."),
  PARLANCE_DATA_DIR: path
    .optional()
    .describe("Data directory, relative to the working directory; overrides data_directory."),
  PARLANCE_MODELS_DIR: path
    .optional()
    .describe("Directory of the model files, relative to the working directory; overrides models_directory."),
  PARLANCE_API_KEY: key
    .optional()
    .describe(
      "First project key, 32 to 512 printable ASCII characters. Default: generated at the first start and shown once.",
    ),
  PARLANCE_ADMIN_KEY: key
    .optional()
    .describe("First admin key, in the same format. Must differ from PARLANCE_API_KEY."),
  PARLANCE_METRICS_KEY: key
    .optional()
    .describe(
      "Bearer key required for /metrics on the service's own port, 32 to 512 printable ASCII characters. Default: no key is required.",
    ),
  PARLANCE_ENCRYPTION_KEY: encryptionKeys
    .optional()
    .describe(
      "Key that encrypts stored responses and conversations, 32 to 512 random printable ASCII characters without commas. To rotate it, put the new key first and the former keys after it, separated by commas. Default: with SQLite, a key generated in encryption.key in the data directory; with PostgreSQL, nothing is stored.",
    ),
  PARLANCE_LOG_LEVEL: z.enum(LOG_LEVELS).optional().describe("Minimum log level; overrides log_level."),
  PARLANCE_BUILTIN_MODELS: flag("must be true or false")
    .optional()
    .describe("Whether to serve the built-in models (true or false); overrides builtin_models."),
  PARLANCE_DEFAULT_CHAT_MODEL: z
    .string()
    .max(200)
    .optional()
    .describe("Built-in chat model that is listed first, or auto; overrides local.default_chat_model."),
  PARLANCE_TEST_ENGINES: flag("must be 1 or 0")
    .default(false)
    .describe("For tests of Parlance itself. 1 allows the scripted engine to crash its own process."),
  CI: z
    .string()
    .optional()
    .transform((value) => value !== undefined && !NO.includes(value.toLowerCase()))
    .describe("Set by CI services. Any value except 0, false, no and off disables downloads in the background."),
  DATABASE_URL: secretText(urlOf(["postgres:", "postgresql:"], false))
    .optional()
    .describe("PostgreSQL database, postgres://…. Default: SQLite in the data directory."),
  DATABASE_READ_URL: secretText(urlOf(["postgres:", "postgresql:"], false))
    .optional()
    .describe("Read replica of the PostgreSQL database, for usage reports. Default: DATABASE_URL."),
  REDIS_URL: redisAddress
    .optional()
    .describe(
      "Redis or Valkey for the rate-limit counters that replicas share: redis://…, redis-sentinel://… or redis-cluster://…, or each with rediss for TLS. Default: PostgreSQL if DATABASE_URL is set, otherwise each replica counts in memory.",
    ),
  AWS_ACCESS_KEY_ID: z.string().min(1).max(256).optional().describe("Access key of the store in `files.s3`."),
  AWS_SECRET_ACCESS_KEY: secretText(z.string().min(1).max(1024))
    .optional()
    .describe("Secret key of the store in `files.s3`."),
  AWS_SESSION_TOKEN: secretText(z.string().min(1).max(8192))
    .optional()
    .describe("Session token of temporary keys. It is not renewed: use lasting keys for a service."),
  HF_ENDPOINT: urlOf(["https:", "http:"], true)
    .optional()
    .transform((value) => (value ?? "https://huggingface.co").replace(/\/+$/, ""))
    .describe("URL of the Hugging Face Hub or a mirror. Default: https://huggingface.co."),
  HF_TOKEN: secretText(z.string().regex(/^[\x21-\x7e]+$/, { error: "must be printable ASCII without whitespace" }))
    .optional()
    .describe("Access token for the Hugging Face Hub, required for gated models."),
  HF_HUB_OFFLINE: flag("must be 1 or 0").default(false).describe("1 disables all requests to the Hugging Face Hub."),
  ...openTelemetryVariables,
}));

export type Environment = z.output<typeof environmentSchema>;

/** Variables that override a key of the file. */
export const OVERRIDES: Readonly<Record<string, keyof Environment>> = {
  "server.host": "PARLANCE_HOST",
  "server.port": "PARLANCE_PORT",
  data_directory: "PARLANCE_DATA_DIR",
  models_directory: "PARLANCE_MODELS_DIR",
  log_level: "PARLANCE_LOG_LEVEL",
  builtin_models: "PARLANCE_BUILTIN_MODELS",
  "local.default_chat_model": "PARLANCE_DEFAULT_CHAT_MODEL",
  "opentelemetry.endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
  "opentelemetry.service_name": "OTEL_SERVICE_NAME",
  "opentelemetry.sample_ratio": "OTEL_TRACES_SAMPLER_ARG",
};
