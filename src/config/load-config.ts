/** Builds the Config from the environment and parlance.yaml; the environment overrides the file. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { toCamelCase } from "../kernel/settings/mapping.ts";
import { checkGuardrails } from "./check-guardrails.ts";
import { checkModels, type KnownEngine, type KnownModel } from "./check-models.ts";
import { checkPrices } from "./check-prices.ts";
import type { Config } from "./config.ts";
import { ConfigErrors } from "./config-errors.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { listSettings } from "./effective-settings.ts";
import { type Environment, OVERRIDES } from "./environment-schema.ts";
import type { ConfigFile } from "./file-schema.ts";
import type { DeploymentSchemas } from "./json-schema.ts";
import { type ParsedFile, parseFile } from "./parse-file.ts";
import { type RawFile, readConfigFile } from "./read-config-file.ts";
import { readEnvironment, rejectMisspelled } from "./read-environment.ts";
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
  const usesBuiltin = values?.PARLANCE_BUILTIN_MODELS ?? parsed.file?.builtinModels ?? true;
  checkModels(value, raw.value, { ...sources, builtinModels: usesBuiltin ? sources.builtinModels : [] }, errors);
  checkPrices(parsed, errors);
  checkDefaultChatModel(values?.PARLANCE_DEFAULT_CHAT_MODEL, parsed.file, sources.builtinModels, errors);
  checkGuardrails(parsed.file, errors);
  if (values !== undefined) {
    checkS3Keys(parsed.file?.files.s3, values, errors);
    checkOpenTelemetry(parsed.file?.opentelemetry, values, errors);
  }
  rejectMisspelled(unknown, names, errors);
  if (!errors.isEmpty || values === undefined || parsed.file === undefined) throw errors.toFault(file, raw.lineOf);
  const config = combine(sources, values, file, parsed.file, parsed.deployments);
  return deepFreeze({
    ...config,
    effective: listSettings({ ...config, written: value, parsed: parsed.file, deployments: parsed.deployments }),
  });
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
  const id = variable ?? file?.local.defaultChatModel ?? "auto";
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
): Omit<Config, "effective"> {
  const { opentelemetry: _, ...settings } = withOverrides(file, environment);
  const fileDirectory = path === undefined ? workingDirectory : dirname(path);
  const resolvePath = (variable: string | undefined, inFile: string | undefined, otherwise: string) => {
    if (variable !== undefined) return resolve(workingDirectory, variable);
    return inFile === undefined ? otherwise : resolve(fileDirectory, inFile);
  };
  const dataDirectory = resolvePath(
    environment.PARLANCE_DATA_DIR,
    file.dataDirectory,
    resolve(workingDirectory, ".parlance"),
  );
  const { HF_ENDPOINT: endpoint, HF_TOKEN: token, HF_HUB_OFFLINE: offline } = environment;
  return {
    ...settings,
    file: path,
    environment,
    dataDirectory,
    modelsDirectory: resolvePath(
      environment.PARLANCE_MODELS_DIR,
      file.modelsDirectory,
      resolve(dataDirectory, "models"),
    ),
    files: {
      ...file.files,
      directory: resolvePath(undefined, file.files.directory, resolve(dataDirectory, "files")),
      s3: toS3(file.files.s3, environment),
    },
    hub: { endpoint, token, offline },
    openTelemetry: toOpenTelemetry(file.opentelemetry, environment, (module) => resolve(fileDirectory, module)),
    models: file.models.flatMap(({ task, deployments: entries, ...model }, index) =>
      task === undefined || entries === undefined ? [] : [{ ...model, task, deployments: deployments[index] ?? [] }],
    ),
    builtinOverrides: file.models.filter((model) => model.deployments === undefined),
    warnings: environment.DATABASE_URL === undefined ? warningsWithoutDatabase(environment) : [],
  };
}

/** Returns the file's settings with the variables that override one of its keys. */
function withOverrides(file: ConfigFile, environment: Environment): ConfigFile {
  return Object.entries(OVERRIDES).reduce((settings, [key, variable]) => {
    const value = environment[variable];
    return value === undefined ? settings : (replaceAt(settings, key.split(".").map(toCamelCase), value) as ConfigFile);
  }, file);
}

function replaceAt(settings: unknown, [key = "", ...rest]: string[], value: unknown): object {
  const copy: Record<string, unknown> = { ...(settings as object) };
  copy[key] = rest.length === 0 ? value : replaceAt(copy[key], rest, value);
  return copy;
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
