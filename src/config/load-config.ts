/** Builds the Config from the environment and parlance.yaml; the environment overrides the file. */

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import type { ChatDefaults } from "../contracts/chat-model.ts";
import { checkModels, type KnownEngine, type KnownModel } from "./check-models.ts";
import type { BuiltinOverride, Config } from "./config.ts";
import { ConfigErrors } from "./config-errors.ts";
import { deepFreeze } from "./deep-freeze.ts";
import type { Environment } from "./environment-schema.ts";
import type { ConfigFile } from "./file-schema.ts";
import type { DeploymentSchemas } from "./json-schema.ts";
import { toLimits } from "./limits-schema.ts";
import { type ParsedFile, parseFile } from "./parse-file.ts";
import { type RawFile, readConfigFile } from "./read-config-file.ts";
import { readEnvironment, rejectMisspelled } from "./read-environment.ts";
import { listSettings } from "./settings-in-force.ts";
import { substituteVariables } from "./substitute-variables.ts";
import { checkOpenTelemetry, toOpenTelemetry } from "./to-open-telemetry.ts";

export interface ConfigSources {
  environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path. Base of relative paths in the environment, and where parlance.yaml is looked up. */
  workingDirectory: string;
  /** Settings schema of each engine. */
  deploymentSchemas: DeploymentSchemas;
  /** Built-in models, which fallbacks may name. */
  builtinModels: readonly KnownModel[];
  /** IDs of the models that can be pulled by their ID. */
  manifestIds: readonly string[];
  engines: Readonly<Record<string, KnownEngine>>;
}

/**
 * Loads a deep-frozen Config. Throws one Fault that lists every error with its path and shows no secret. With `current`,
 * an empty or missing file is an error too: it is probably just being written.
 */
export async function loadConfig(sources: ConfigSources, current?: Config): Promise<Config> {
  const errors = new ConfigErrors();
  const { values, unknown } = readEnvironment(sources.environment, errors);
  const file = findFile(sources) ?? current?.file;
  const raw = file === undefined ? NO_FILE : await readConfigFile(file, errors);
  if (current !== undefined && raw.isEmpty) {
    errors.add([], "is empty; to serve only the built-in models, write builtin_models: true");
  }
  // An unreadable file has already been reported; validating it as an empty one adds no further errors.
  const { value, names } = substituteVariables(raw.value ?? {}, sources.environment, errors);
  const parsed = parseFile(value, sources.deploymentSchemas, errors);
  const usesBuiltin = values?.PARLANCE_BUILTIN_MODELS ?? parsed.file?.builtin_models ?? true;
  checkModels(value, raw.value, { ...sources, builtinModels: usesBuiltin ? sources.builtinModels : [] }, errors);
  checkDefaultChatModel(values?.PARLANCE_DEFAULT_CHAT_MODEL, parsed.file, sources.builtinModels, errors);
  if (values !== undefined) {
    checkS3Keys(parsed.file?.files.s3, values, errors);
    checkOpenTelemetry(parsed.file?.opentelemetry, values, errors);
  }
  rejectMisspelled(unknown, names, errors);
  if (!errors.isEmpty || values === undefined || parsed.file === undefined) throw errors.toFault(file, raw.lineOf);
  const { dataDirectory, modelsDirectory, ...config } = combine(sources, values, file, parsed.file, parsed.deployments);
  const inForce = listSettings({
    written: value,
    file: parsed.file,
    deployments: parsed.deployments,
    environment: values,
    dataDirectory,
    modelsDirectory,
  });
  return deepFreeze({ ...config, dataDirectory, modelsDirectory, inForce });
}

/** Reports missing keys of the store of files. */
function checkS3Keys(s3: S3Settings, environment: Environment, errors: ConfigErrors): void {
  if (s3 === undefined) return;
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const) {
    if (environment[name] === undefined) errors.addVariable(name, "is required by files.s3");
  }
}

function toS3(s3: S3Settings, environment: Environment): Config["files"]["s3"] {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (s3 === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const endpoint = s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`;
  return { ...s3, endpoint, accessKeyId, secretAccessKey, sessionToken: environment.AWS_SESSION_TOKEN };
}

/** Reports an id that no built-in chat model has. */
function checkDefaultChatModel(
  variable: string | undefined,
  file: ConfigFile | undefined,
  builtinModels: readonly KnownModel[],
  errors: ConfigErrors,
): void {
  const id = variable ?? file?.local.default_chat_model ?? "auto";
  const ids = builtinModels.filter(({ task }) => task === "chat").map((model) => model.id);
  if (id === "auto" || ids.includes(id)) return;
  const message = `must be auto or the ID of a built-in chat model: ${ids.join(", ")}`;
  if (variable === undefined) errors.add(["local", "default_chat_model"], message);
  else errors.addVariable("PARLANCE_DEFAULT_CHAT_MODEL", message);
}

type S3Settings = ConfigFile["files"]["s3"];

const NO_FILE: RawFile = { value: {}, isEmpty: false, lineOf: () => undefined };

function findFile({ environment, workingDirectory }: ConfigSources): string | undefined {
  if (environment.PARLANCE_CONFIG) return resolve(workingDirectory, environment.PARLANCE_CONFIG);
  const defaultFile = resolve(workingDirectory, "parlance.yaml");
  return existsSync(defaultFile) ? defaultFile : undefined;
}

function combine(
  { workingDirectory }: ConfigSources,
  environment: Environment,
  path: string | undefined,
  file: ConfigFile,
  deployments: ParsedFile["deployments"],
): Omit<Config, "inForce"> {
  const fileDirectory = path === undefined ? workingDirectory : dirname(path);
  const resolvePath = (variable: string | undefined, inFile: string | undefined, otherwise: string) => {
    if (variable !== undefined) return resolve(workingDirectory, variable);
    return inFile === undefined ? otherwise : resolve(fileDirectory, inFile);
  };
  const dataDirectory = resolvePath(
    environment.PARLANCE_DATA_DIR,
    file.data_directory,
    resolve(workingDirectory, ".parlance"),
  );
  return {
    file: path,
    server: {
      host: environment.PARLANCE_HOST ?? file.server.host,
      port: environment.PARLANCE_PORT ?? file.server.port,
      operations: file.server.operations,
      maxBodyBytes: file.server.max_body_bytes,
      maxUploadBytes: file.server.max_upload_bytes,
      maxAudioSeconds: file.server.max_audio_seconds,
      ffmpeg: file.server.ffmpeg,
      maxModerationInputs: file.server.max_moderation_inputs,
      receiveTimeoutSeconds: file.server.receive_timeout_seconds,
      requestTimeoutSeconds: file.server.request_timeout_seconds,
      maxConnectionsPerAddress: file.server.max_connections_per_address,
      trustedProxies: file.server.trusted_proxies,
      corsOrigins: file.server.cors_origins,
      hasConsole: file.server.console,
      unknownFields: file.server.unknown_fields,
      mismatchedIds: file.server.mismatched_ids,
      workers: file.server.workers === "auto" ? availableParallelism() : file.server.workers,
      drainSeconds: file.server.drain_seconds,
      databaseGraceSeconds: file.server.database_grace_seconds,
    },
    dataDirectory,
    modelsDirectory: resolvePath(
      environment.PARLANCE_MODELS_DIR,
      file.models_directory,
      resolve(dataDirectory, "models"),
    ),
    databaseUrl: environment.DATABASE_URL,
    databaseReadUrl: environment.DATABASE_URL && environment.DATABASE_READ_URL,
    redis: environment.REDIS_URL,
    apiKey: environment.PARLANCE_API_KEY,
    adminKey: environment.PARLANCE_ADMIN_KEY,
    metricsKey: environment.PARLANCE_METRICS_KEY,
    hub: {
      endpoint: environment.HF_ENDPOINT,
      token: environment.HF_TOKEN,
      offline: environment.HF_HUB_OFFLINE,
    },
    limits: {
      projectModel: toLimits(file.limits.project_model),
      organization: toLimits(file.limits.organization),
      key: toLimits(file.limits.key),
    },
    onCountersUnavailable: file.limits.on_counters_unavailable,
    failedAuthenticationsPerMinute: file.limits.failed_authentications_per_minute,
    usage: { recordDays: file.usage.record_days, requestDays: file.usage.request_days },
    responses: {
      store: file.responses.store,
      keepDays: file.responses.keep_days,
      maxBytesPerProject: file.responses.max_size_per_project,
    },
    files: {
      directory: resolvePath(undefined, file.files.directory, resolve(dataDirectory, "files")),
      s3: toS3(file.files.s3, environment),
      maxBytesPerFile: file.files.max_file_size,
      maxBytesPerProject: file.files.max_size_per_project,
      keepDays: file.files.keep_days,
    },
    batches: {
      maxLines: file.batches.max_lines,
      concurrentLines: file.batches.concurrent_lines,
      concurrentBatches: file.batches.concurrent_batches,
    },
    webhooks: file.webhooks,
    openTelemetry: toOpenTelemetry(file.opentelemetry, environment, (module) => resolve(fileDirectory, module)),
    ollama: { enabled: file.ollama.enabled, anonymousProject: file.ollama.anonymous_project },
    realtime: {
      transcriptionModel: file.realtime.transcription_model,
      speechModel: file.realtime.speech_model,
      maxSessionsPerProject: file.realtime.max_sessions_per_project,
      maxSessionSeconds: file.realtime.max_session_seconds,
      idleTimeoutSeconds: file.realtime.idle_timeout_seconds,
    },
    encryptionKeys: environment.PARLANCE_ENCRYPTION_KEY,
    local: {
      load: file.local.load,
      unloadAfterSeconds: file.local.unload_after_seconds || undefined,
      memoryBytes: file.local.memory,
      defaultChatModel: environment.PARLANCE_DEFAULT_CHAT_MODEL ?? file.local.default_chat_model,
      downloadsInBackground: !environment.CI,
    },
    logLevel: environment.PARLANCE_LOG_LEVEL ?? file.log_level,
    builtinModels: environment.PARLANCE_BUILTIN_MODELS ?? file.builtin_models,
    defaultAliases: file.default_aliases,
    models: file.models.flatMap((model, index) => {
      const { task } = model;
      return task === undefined || model.deployments === undefined
        ? []
        : [{ ...toOverride(model), task, deployments: deployments[index] ?? [] }];
    }),
    builtinOverrides: file.models.filter((model) => model.deployments === undefined).map(toOverride),
    warnings: environment.DATABASE_URL === undefined ? warningsWithoutDatabase(environment) : [],
  };
}

function warningsWithoutDatabase({ REDIS_URL, DATABASE_READ_URL }: Environment): string[] {
  return [
    ...(REDIS_URL === undefined
      ? []
      : [
          "REDIS_URL is set without DATABASE_URL: replicas share rate limits, but each has its own keys and usage records",
        ]),
    ...(DATABASE_READ_URL === undefined ? [] : ["DATABASE_READ_URL is ignored without DATABASE_URL"]),
  ];
}

function toOverride(model: ConfigFile["models"][number]): BuiltinOverride {
  return {
    id: model.id,
    accessGroups: model.access_groups,
    aliases: model.aliases,
    isHidden: model.hidden,
    ownedBy: model.owned_by,
    price: model.price,
    batchPrice: model.batch_price,
    defaults: model.defaults && toDefaults(model.defaults),
    strategy: model.strategy,
    retries: model.retries,
    prefixLoadFactor: model.prefix_load_factor,
    circuit: {
      failures: model.circuit.failures,
      failureRate: model.circuit.failure_rate,
      cooldownSeconds: model.circuit.cooldown_seconds,
    },
    fallbacks: model.fallbacks,
    maxQueue: model.max_queue,
  };
}

function toDefaults(defaults: NonNullable<ConfigFile["models"][number]["defaults"]>): ChatDefaults {
  return {
    temperature: defaults.temperature,
    topP: defaults.top_p,
    topK: defaults.top_k,
    minP: defaults.min_p,
    frequencyPenalty: defaults.frequency_penalty,
    presencePenalty: defaults.presence_penalty,
    repeatPenalty: defaults.repeat_penalty,
    maxTokens: defaults.max_completion_tokens,
    reasoningEffort: defaults.reasoning_effort,
  };
}
