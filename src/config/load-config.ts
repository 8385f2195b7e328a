/** Builds the Config from the environment and parlance.yaml; the environment overrides the file. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { toCamelCase } from "../kernel/settings/mapping.ts";
import { buildWithout } from "./build-without.ts";
import { checkEntries } from "./check-entries.ts";
import { checkGuardrails } from "./check-guardrails.ts";
import { checkModels, type KnownEngine, type KnownModel } from "./check-models.ts";
import { checkPrices } from "./check-prices.ts";
import type { Config } from "./config.ts";
import { ConfigErrors, type Path } from "./config-errors.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { SettingsInForce } from "./effective-settings.ts";
import { type Environment, OVERRIDES } from "./environment-schema.ts";
import { expandConnections } from "./expand-connections.ts";
import type { ConfigFile } from "./file-schema.ts";
import type { DeploymentSchemas } from "./json-schema.ts";
import { type EntryStatus, type Layer, type LayerEntry, NO_LAYER, placeEntries } from "./layer.ts";
import { asMapping, type ParsedFile, parseFile } from "./parse-file.ts";
import { type RawFile, type ReadFile, readConfigFile } from "./read-config-file.ts";
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
export async function loadConfig(
  sources: ConfigSources,
  current?: Pick<Config, "file">,
  layer: Layer = NO_LAYER,
): Promise<Config> {
  const errors = new ConfigErrors();
  const path = findFile(sources) ?? current?.file;
  const raw = path === undefined ? NO_FILE : await readConfigFile(path, errors);
  if (current !== undefined && raw.isEmpty) {
    errors.add([], "is empty; to serve only the built-in models, write builtin_models: true");
  }
  const read = { path, raw };
  if (errors.isEmpty) return layConfig(sources, read, layer);
  // An unreadable file has already been reported; validating it as an empty one adds no further errors.
  build(sources, read, NO_LAYER.entries, errors);
  throw errors.toFault(path, raw.lineOf);
}

/**
 * Builds the Config from a file that was read before and the entries of the API. An entry that is invalid, as one that
 * refers to a model that the file no longer has, is left out and reported, never a reason to refuse the file. Throws as
 * `loadConfig` for errors of the file itself.
 */
export function layConfig(sources: ConfigSources, read: ReadFile, layer: Layer): Config {
  const isIgnored = asMapping(read.raw.value)?.configuration === "file_only";
  const entries = isIgnored ? [] : layer.entries;
  const { built, problems } = buildWithout(entries, (each) => {
    const errors = new ConfigErrors();
    return { errors, ...build(sources, read, each, errors) };
  });
  if (built.config === undefined) throw built.errors.toFault(read.path, read.raw.lineOf);
  const report = layer.entries.map((entry): EntryStatus => {
    const { kind, name } = entry;
    const problem = problems.get(entry);
    if (isIgnored) return { kind, name, status: "ignored", problem: "parlance.yaml has configuration: file_only" };
    if (problem !== undefined) return { kind, name, status: "invalid", problem };
    if (built.paths.has(entry)) return { kind, name, status: "in_force", problem: undefined };
    return { kind, name, status: "shadowed", problem: "parlance.yaml has an entry of this name, which applies" };
  });
  return deepFreeze({ ...built.config, layer: { version: layer.version, entries: report } });
}

interface Attempt {
  /** Undefined if there are errors. */
  config: Omit<Config, "layer"> | undefined;
  paths: ReadonlyMap<LayerEntry, Path>;
}

/** Adds every error of the environment, the file and the entries to `errors`. */
function build(
  sources: ConfigSources,
  { path: file, raw }: ReadFile,
  entries: readonly LayerEntry[],
  errors: ConfigErrors,
): Attempt {
  const { values, unknown } = readEnvironment(sources.environment, errors);
  const substituted = substituteVariables(raw.value ?? {}, sources.environment, errors);
  const { names } = substituted;
  const { value: merged, paths } = placeEntries(substituted.value, entries);
  for (const secret of entries.flatMap(({ secrets }) => secrets)) errors.redact(secret, "[redacted]");
  const allowsCommands = asMapping(asMapping(substituted.value)?.mcp)?.commands === "live";
  checkEntries(paths, errors, { allowsCommands });
  const unresolved = new WeakSet<object>();
  const value = expandConnections(merged, unresolved, errors);
  const parsed = guardEntries(parseFile(value, sources.deploymentSchemas, errors, unresolved), paths);
  const usesBuiltin = values?.PARLANCE_BUILTIN_MODELS ?? parsed.file?.builtinModels ?? true;
  const written = expandConnections(placeEntries(raw.value, entries).value, unresolved, new ConfigErrors());
  checkModels(value, written, { ...sources, builtinModels: usesBuiltin ? sources.builtinModels : [] }, errors);
  checkPrices(parsed, errors);
  checkDefaultModels(values?.PARLANCE_DEFAULT_CHAT_MODEL, parsed.file, sources.builtinModels, errors);
  checkGuardrails(parsed.file, errors);
  if (values !== undefined) {
    checkS3Keys(parsed.file?.files.s3, values, errors);
    checkOpenTelemetry(parsed.file?.opentelemetry, values, errors);
  }
  rejectMisspelled(unknown, names, errors);
  if (!errors.isEmpty || values === undefined || parsed.file === undefined) return { config: undefined, paths };
  const config = combine(sources, values, file, parsed.file, parsed.deployments);
  const { deployments } = parsed;
  const inFile = substituted.value;
  const effective = new SettingsInForce({ ...config, inFile, written: value, parsed: parsed.file, deployments });
  return { config: { ...config, effective, read: { path: file, raw } }, paths };
}

/** Connections to addresses that the API names pass the guard of outgoing connections. */
function guardEntries(parsed: ParsedFile, paths: ReadonlyMap<LayerEntry, Path>): ParsedFile {
  const guarded = new Set([...paths].flatMap(([{ kind }, [, index]]) => (kind === "model" ? [index] : [])));
  if (guarded.size === 0) return parsed;
  const deployments = parsed.deployments.map((each, index) =>
    guarded.has(index)
      ? each.map((one) =>
          "isGuarded" in (one.settings as object)
            ? { ...one, settings: { ...(one.settings as object), isGuarded: true } }
            : one,
        )
      : each,
  );
  return { ...parsed, deployments };
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

/** Reports IDs that no built-in model of their task has. */
function checkDefaultModels(
  chatVariable: string | undefined,
  file: ConfigFile | undefined,
  builtinModels: readonly KnownModel[],
  errors: ConfigErrors,
): void {
  const { defaultChatModel, defaultSpeechModel, defaultModerationModel } = file?.local ?? {};
  const chosen = {
    chat: chatVariable ?? defaultChatModel,
    speech: defaultSpeechModel,
    moderation: defaultModerationModel,
  };
  for (const [task, id = "auto"] of Object.entries(chosen)) {
    const ids = builtinModels.filter((model) => model.task === task).map((model) => model.id);
    if (id === "auto" || ids.includes(id)) continue;
    const message = `must be auto or the ID of a built-in ${task} model: ${ids.join(", ")}`;
    if (task === "chat" && chatVariable !== undefined) errors.addVariable("PARLANCE_DEFAULT_CHAT_MODEL", message);
    else errors.add(["local", `default_${task}_model`], message);
  }
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
): Omit<Config, "effective" | "read" | "layer"> {
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
