import type { Task } from "../engines/task.ts";
import type { LogLevel } from "../observability/logger.ts";
import type { Secret } from "../secret.ts";

/** Everything an operator may set, checked and frozen. Made once from the environment and parlance.yaml; nothing else reads either. */
export interface Config {
  /** Absolute path of the file that was read; undefined when there is none. */
  file: string | undefined;
  server: ServerConfig;
  /** Absolute. Holds the SQLite database and, unless set apart, the models. */
  dataDirectory: string;
  modelsDirectory: string;
  /** PostgreSQL; undefined: SQLite in the data directory. */
  databaseUrl: Secret | undefined;
  /** Shared counters; undefined: in memory, or the database. */
  redisUrl: Secret | undefined;
  /** First keys fixed by the operator; undefined: made at first start and shown once. */
  apiKey: Secret | undefined;
  adminKey: Secret | undefined;
  /** Bearer key of /metrics on the service's own port; undefined: no key is needed. */
  metricsKey: Secret | undefined;
  hub: HubConfig;
  /** What may be used unless an administrator set something else; undefined: any number. */
  limits: Readonly<Record<"projectModel" | "organization" | "key", LimitsConfig>>;
  /** What holds while the counters that replicas share cannot be reached. */
  onCountersUnavailable: "share" | "refuse" | "admit";
  /** Wrong keys that are checked for one address in a minute. */
  failedAuthenticationsPerMinute: number;
  usage: {
    /** How long single requests are kept; their sums by hour and day stay. */
    recordDays: number;
  };
  local: LocalConfig;
  logLevel: LogLevel;
  /** Whether the manifest's default models are in the catalog. */
  builtinModels: boolean;
  /** Whether the built-in default models answer by OpenAI's model names, too. */
  defaultAliases: boolean;
  models: readonly ModelConfig[];
  /** What the operator should be told at start, although it stops nothing. */
  warnings: readonly string[];
}

interface LocalConfig {
  load: "start" | "on_demand";
  /** Undefined: never. */
  unloadAfterSeconds: number | undefined;
  /** Of all local models together; undefined: found from the machine. */
  memoryBytes: number | undefined;
}

export interface LimitsConfig {
  requestsPerMinute: number | undefined;
  requestsPerDay: number | undefined;
  tokensPerMinute: number | undefined;
  audioMegabytesPerMinute: number | undefined;
  concurrentRequests: number | undefined;
}

interface ServerConfig {
  host: string;
  port: number;
  /** Where /metrics and /health are served besides; undefined: on the same port. */
  operations: { host: string; port: number } | undefined;
  maxBodyBytes: number;
  /** Of one file sent for transcription. */
  maxUploadBytes: number;
  /** Of one recording sent for transcription. */
  maxAudioSeconds: number;
  /** A command, for uploads that the decoders here do not read. */
  ffmpeg: string | undefined;
  /** Entries in the `input` of one moderation. */
  maxModerationInputs: number;
  /** How long a request, headers and body, may take to arrive. */
  receiveTimeoutSeconds: number;
  /** From the request's arrival to the answer's end. */
  requestTimeoutSeconds: number;
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[];
  /** Origins of web pages that may call the API; `*`: every page. */
  corsOrigins: readonly string[];
  /** What happens when a header names another organization or project than the key's. */
  mismatchedIds: "refuse" | "ignore";
  /** How long running requests may go on after SIGTERM. */
  drainSeconds: number;
  /** How long known keys go on working while the database is away. */
  databaseGraceSeconds: number;
}

/** The Hugging Face hub, by the environment names that its own tools read. */
interface HubConfig {
  /** Without a slash at its end. */
  endpoint: string;
  token: Secret | undefined;
  /** True: never asked. */
  offline: boolean;
}

export interface ModelConfig {
  /** Catalog id, or a wildcard that ends in `/*`. */
  id: string;
  task: Task;
  accessGroups: readonly string[];
  /** Other ids that mean this model wherever an id is taken. */
  aliases: readonly string[];
  /** Not listed and not found by its own id; answers by its aliases and as a fallback. */
  isHidden: boolean;
  ownedBy: string;
  /** US dollars as decimal strings, by unit: `prompt`, `cached_prompt`, `completion` (a token), `character`, `second`. */
  price: Readonly<Record<string, string>>;
  strategy: "ordered" | "weighted" | "least_busy" | "lowest_latency" | "lowest_cost";
  /** Attempts after the first; each deployment is tried once in any case. */
  retries: number;
  /** When a deployment that fails is left alone for a while; `failureRate` is more than 0; 1: never by rate. */
  circuit: { failures: number; failureRate: number; cooldownSeconds: number };
  /** Catalog ids tried, in order, when no deployment can answer. */
  fallbacks: readonly string[];
  /** Requests that may wait for a slot of this model. */
  maxQueue: number;
  deployments: readonly DeploymentConfig[];
}

export interface DeploymentConfig {
  /** A kind in the engine registry. */
  engine: string;
  /** As that engine's settings schema made them. */
  settings: unknown;
  weight: number;
  /** What it costs the operator, as a model's `price`. */
  price: Readonly<Record<string, string>>;
  prefixCaching: boolean;
  /** Undefined: as in `local`. */
  load: "start" | "on_demand" | undefined;
  /** 0: never; undefined: as in `local`. */
  unloadAfterSeconds: number | undefined;
  /** Undefined: the model's. */
  maxQueue: number | undefined;
}
