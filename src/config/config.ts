import type { ChatDefaults } from "../contracts/chat-model.ts";
import type { Task } from "../contracts/task.ts";
import type { WebhookEndpoint } from "../features/webhooks/webhook-outbox.ts";
import type { RedisAddress } from "../kernel/redis-address.ts";
import type { Secret } from "../kernel/secret.ts";
import type { LogLevel } from "../observability/logger.ts";
import type { OpenTelemetryOptions } from "../observability/open-telemetry-options.ts";
import type { DeploymentConfig } from "./deployment-config.ts";
import type { LimitsConfig } from "./limits-schema.ts";
import type { SettingsInForce } from "./settings-in-force.ts";

/** Validated, frozen configuration. Built once from the environment and parlance.yaml; nothing else reads either. */
export interface Config {
  /** Absolute path of the file that was read; undefined without one. */
  file: string | undefined;
  server: ServerConfig;
  /** Absolute path. Contains the SQLite database and, by default, the models. */
  dataDirectory: string;
  modelsDirectory: string;
  /** PostgreSQL; undefined: SQLite in the data directory. */
  databaseUrl: Secret | undefined;
  /** Read replica for reports; undefined: `databaseUrl`. */
  databaseReadUrl: Secret | undefined;
  /** Shared counters; undefined: in memory, or the database. */
  redis: RedisAddress | undefined;
  /** First keys set by the operator; undefined: generated at the first start and shown once. */
  apiKey: Secret | undefined;
  adminKey: Secret | undefined;
  /** Bearer key of /metrics on the service's own port; undefined: no key is needed. */
  metricsKey: Secret | undefined;
  hub: HubConfig;
  /** Default limits, which administrators can override; undefined: unlimited. */
  limits: Readonly<Record<"projectModel" | "organization" | "key", LimitsConfig>>;
  /** What to do while the shared counters are unavailable. */
  onCountersUnavailable: "share" | "refuse" | "admit";
  /** Failed authentications allowed per address and minute. */
  failedAuthenticationsPerMinute: number;
  usage: {
    /** Days to keep single requests; hourly and daily totals stay. */
    recordDays: number;
    /** Days to keep the metadata of single requests; 0: none is recorded. */
    requestDays: number;
  };
  responses: {
    /** Whether responses are stored unless a request declines it. */
    store: boolean;
    /** Days to keep a response after its last use. */
    keepDays: number;
    /** Maximum bytes of responses and conversations that one project stores. */
    maxBytesPerProject: number;
  };
  files: {
    /** Absolute path of the folder of uploaded files and batch results. */
    directory: string;
    /** Store that is used instead of the folder; undefined: none. */
    s3: S3Config | undefined;
    maxBytesPerFile: number;
    maxBytesPerProject: number;
    /** Days to keep a file, and a batch that has ended. */
    keepDays: number;
  };
  batches: {
    /** Maximum requests of one batch. */
    maxLines: number;
    /** Requests of one batch that run at the same time. */
    concurrentLines: number;
    /** Batches that run at the same time. */
    concurrentBatches: number;
  };
  /** Undefined: nothing is exported. */
  openTelemetry: OpenTelemetryOptions | undefined;
  webhooks: readonly WebhookEndpoint[];
  ollama: {
    /** Whether Ollama's API is served. */
    enabled: boolean;
    /** ID or name of the project of requests without a key; undefined: a key is required. */
    anonymousProject: string | undefined;
  };
  realtime: {
    /** Models of sessions that name none; undefined: the first that the key may use. */
    transcriptionModel: string | undefined;
    speechModel: string | undefined;
    maxSessionsPerProject: number;
    maxSessionSeconds: number;
    idleTimeoutSeconds: number;
  };
  /** Keys of stored content, the current one first; undefined: a key file, with SQLite only. */
  encryptionKeys: readonly [Secret, ...Secret[]] | undefined;
  local: LocalConfig;
  logLevel: LogLevel;
  /** Whether the manifest's default models are in the catalog. */
  builtinModels: boolean;
  /** Whether OpenAI's model names are aliases of the built-in default models. */
  defaultAliases: boolean;
  models: readonly ModelConfig[];
  /** Settings for built-in models, by ID. */
  builtinOverrides: readonly BuiltinOverride[];
  /** The settings as operators read them, without secrets. */
  inForce: SettingsInForce;
  /** Messages to log at startup. */
  warnings: readonly string[];
}

interface S3Config {
  /** Without the bucket. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Beginning of every key; empty or with a trailing slash. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: Secret;
  sessionToken: Secret | undefined;
}

interface LocalConfig {
  load: "start" | "on_demand";
  /** Undefined: never. */
  unloadAfterSeconds: number | undefined;
  /** Memory for all local models together; undefined: derived from the machine's memory. */
  memoryBytes: number | undefined;
  /** ID of a built-in model, or `auto`. */
  defaultChatModel: string;
  /** Whether the default chat model may be downloaded after the start. */
  downloadsInBackground: boolean;
}

interface ServerConfig {
  host: string;
  port: number;
  /** Separate address for /metrics and /health; undefined: the same port. */
  operations: { host: string; port: number } | undefined;
  maxBodyBytes: number;
  /** Maximum size of one uploaded audio file. */
  maxUploadBytes: number;
  /** Maximum duration of one uploaded recording. */
  maxAudioSeconds: number;
  /** FFmpeg command for formats that the built-in decoders do not support. */
  ffmpeg: string | undefined;
  /** Maximum entries in the `input` of one moderation. */
  maxModerationInputs: number;
  /** Time limit for receiving a request's headers and body. */
  receiveTimeoutSeconds: number;
  /** Time limit from a request's arrival to the end of its response. */
  requestTimeoutSeconds: number;
  /** Connections that one remote address may have open; undefined: unlimited. */
  maxConnectionsPerAddress: number | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
  /** Origins that may call the API from a browser; `*` allows all. */
  corsOrigins: readonly string[];
  /** What to do when a header names another organization or project than the key's. */
  mismatchedIds: "refuse" | "ignore";
  /** Whether the console is served at `/`. */
  hasConsole: boolean;
  /** What to do with fields of a request body that Parlance does not know. */
  unknownFields: "ignore" | "refuse";
  /** Processes that serve requests for upstream models; 1: the process that serves everything else, too. */
  workers: number;
  /** Time that active requests get to finish after SIGTERM. */
  drainSeconds: number;
  /** How long recently used keys keep working while the database is unavailable. */
  databaseGraceSeconds: number;
}

/** Hugging Face Hub settings, from the environment variables that its own tools read. */
interface HubConfig {
  /** Without a trailing slash. */
  endpoint: string;
  token: Secret | undefined;
  /** True: no requests to the hub. */
  offline: boolean;
}

export interface ModelConfig {
  /** Catalog ID, or a wildcard that ends in `/*`. */
  id: string;
  task: Task;
  accessGroups: readonly string[];
  /** Alternative IDs of the model. */
  aliases: readonly string[];
  /** Not listed and not found by its own ID, only by its aliases and as a fallback. */
  isHidden: boolean;
  ownedBy: string;
  /** US dollars as decimal strings, by unit: `prompt`, `cached_prompt`, `completion` (a token), `character`, `second`. */
  price: Readonly<Record<string, string>>;
  /** Price of requests in batches; undefined: `price`. */
  batchPrice: Readonly<Record<string, string>> | undefined;
  /** Parameters of chat requests that leave them out. */
  defaults: ChatDefaults | undefined;
  strategy: "ordered" | "weighted" | "least_busy" | "power_of_two_choices" | "lowest_latency" | "lowest_cost";
  /** Attempts after the first; each deployment is tried at least once. */
  retries: number;
  /** Maximum active requests of a deployment, relative to the mean, up to which prefix affinity applies. */
  prefixLoadFactor: number;
  /** Circuit breaker. `failureRate` is more than 0; 1 disables the check of the rate. */
  circuit: { failures: number; failureRate: number; cooldownSeconds: number };
  /** Catalog IDs tried in order when no deployment is available. */
  fallbacks: readonly string[];
  /** Maximum number of requests that wait for a slot of one deployment. */
  maxQueue: number;
  deployments: readonly DeploymentConfig[];
}

/** What an operator adds to a built-in model, which keeps its deployment. */
export type BuiltinOverride = Omit<ModelConfig, "task" | "deployments">;
