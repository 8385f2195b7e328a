/** Settings in force with their documentation, for operators to read. Secrets are redacted. */

import { z } from "zod";
import type { DeploymentConfig } from "../catalog/model-config.ts";
import { modelSettings } from "../catalog/model-settings.ts";
import { toCamelCase } from "../kernel/settings/mapping.ts";
import { type Environment, environmentSchema, OVERRIDES } from "./environment-schema.ts";
import { type ConfigFile, configFile } from "./file-schema.ts";
import { inputSchema, type JsonSchema } from "./json-schema.ts";
import { isInFile } from "./layer.ts";

interface Setting {
  /** Key in parlance.yaml, or name of an environment variable without such a key. */
  key: string;
  /** Null: not set. */
  value: unknown;
  /** Null: none, or one that depends on the machine. */
  default: unknown;
  /** `api`: an entry of the API. */
  source: "default" | "file" | "environment" | "api";
  description: string;
}

export interface EffectiveSettings {
  settings: readonly Setting[];
  /** The models of the file and of the API, as JSON with their `source`. */
  models: readonly Readonly<Record<string, unknown>>[];
}

interface LoadedSettings {
  /** The file as written, before defaults. */
  inFile: unknown;
  /** The file with the entries of the API. */
  written: unknown;
  parsed: ConfigFile;
  deployments: readonly (readonly DeploymentConfig[])[];
  environment: Environment;
  dataDirectory: string;
  modelsDirectory: string;
}

/** Variables that are not settings of the service. */
const HIDDEN: ReadonlySet<string> = new Set(["PARLANCE_TEST_ENGINES", "CI", "PARLANCE_CONFIG"]);

/** The settings in force. They are listed when somebody reads them, which takes a twentieth of a start. */
export class SettingsInForce {
  readonly #loaded: LoadedSettings;
  readonly #atStart: SettingsInForce | undefined;
  #listed: EffectiveSettings | undefined;

  /** `atStart`: what keeps applying of the settings that need a restart. */
  constructor(loaded: LoadedSettings, atStart?: SettingsInForce) {
    this.#loaded = loaded;
    this.#atStart = atStart;
  }

  /** Returns the settings after a reload: those of `next`, but the present ones that need a restart. */
  replacedBy(next: SettingsInForce): SettingsInForce {
    return new SettingsInForce(next.#loaded, this.#atStart ?? this);
  }

  list(): EffectiveSettings {
    this.#listed ??= this.#list();
    return this.#listed;
  }

  #list(): EffectiveSettings {
    const { settings, models } = listSettings(this.#loaded);
    if (this.#atStart === undefined) return { settings, models };
    const atStart = new Map(this.#atStart.list().settings.map((setting) => [setting.key, setting]));
    return {
      models,
      settings: settings.map((setting) => (isLive(setting.key) ? setting : (atStart.get(setting.key) ?? setting))),
    };
  }
}

function listSettings(loaded: LoadedSettings): EffectiveSettings {
  // The schema of one model of the file.
  const schema = inputSchema(modelSettings);
  return {
    settings: [...fileSettings(loaded), ...environmentSettings(loaded.environment)],
    models: loaded.parsed.models.map((model, index) => ({
      ...(asInFile(jsonOf(model), schema) as object),
      source: isInFile(loaded.inFile, "model", model.id) ? "file" : "api",
      deployments: (loaded.deployments[index] ?? []).map(toSnakeCase),
    })),
  };
}

/** Whether a reload applies a setting; the others need a restart. */
export function isLive(key: string): boolean {
  return /^(local\.|log_level$|builtin_models$|default_aliases$|configuration$|connections$|mcp_servers$|mcp_toolsets$|prices\.|guardrails$|webhooks$|limits\.(project_model|organization|key|user)\.)/.test(
    key,
  );
}

function fileSettings({
  inFile,
  written,
  parsed,
  environment,
  dataDirectory,
  modelsDirectory,
}: LoadedSettings): Setting[] {
  const paths: Readonly<Record<string, unknown>> = { data_directory: dataDirectory, models_directory: modelsDirectory };
  return leaves(inputSchema(configFile), []).map(({ path, schema }) => {
    const key = path.join(".");
    const variable = OVERRIDES[key];
    const override = variable === undefined ? undefined : environment[variable];
    const source =
      valueAt(inFile, path) !== undefined ? "file" : valueAt(written, path) !== undefined ? "api" : "default";
    return {
      key,
      value: jsonOf(paths[key] ?? override ?? valueAt(parsed, path.map(toCamelCase))),
      default: schema.default ?? null,
      source: override !== undefined ? "environment" : source,
      description: schema.description ?? "",
    };
  });
}

function environmentSettings(environment: Environment): Setting[] {
  const variables = new Set<string>(Object.values(OVERRIDES));
  const { properties = {} } = z.toJSONSchema(environmentSchema, { io: "input", unrepresentable: "any" });
  const empty = environmentSchema.parse({});
  return (Object.keys(environmentSchema.shape) as (keyof Environment)[])
    .filter((name) => !variables.has(name) && !HIDDEN.has(name))
    .map((name) => {
      const [value, otherwise] = [jsonOf(environment[name]), jsonOf(empty[name])];
      const { description } = (properties[name] ?? {}) as JsonSchema;
      return {
        key: name,
        value,
        default: otherwise,
        source: JSON.stringify(value) === JSON.stringify(otherwise) ? "default" : "environment",
        description: description ?? "",
      };
    });
}

interface Leaf {
  path: string[];
  schema: JsonSchema;
}

function leaves(schema: JsonSchema, prefix: string[]): Leaf[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const path = [...prefix, name];
    if (path[0] === "models") return [];
    return value.properties === undefined ? [{ path, schema: value }] : leaves(value, path);
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    value,
  );
}

/** Secrets and functions have no JSON: the former print as `[redacted]`. */
function jsonOf(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** Value of a mapping with the keys of its schema. */
function asInFile(value: unknown, { properties }: JsonSchema): unknown {
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const key = Object.keys(properties).find((each) => toCamelCase(each) === name) ?? name;
    return [key, asInFile(inner, properties[key] ?? {})];
  });
  return Object.fromEntries(entries);
}

/** Names as in the file; engines use them in camel case. */
function toSnakeCase(deployment: DeploymentConfig): Record<string, unknown> {
  const { settings, ...options } = jsonOf(deployment) as { settings?: Record<string, unknown> };
  const entries = Object.entries({ ...options, ...settings });
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replace(/[A-Z]/g, (a) => `_${a.toLowerCase()}`), value]),
  );
}
