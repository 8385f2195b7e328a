/** Validates parlance.yaml against its schema, and each deployment against its engine's schema. */

import type { ZodType } from "zod";
import type { DeploymentConfig } from "../catalog/model-config.ts";
import { type DeploymentSettings, deploymentSettings } from "../catalog/model-settings.ts";
import { nearest } from "../kernel/nearest.ts";
import type { ConfigErrors, Path } from "./config-errors.ts";
import { describeIssue, findings } from "./describe-issue.ts";
import { type ConfigFile, configFile } from "./file-schema.ts";
import {
  type DeploymentSchemas,
  inputSchema,
  type JsonSchema,
  knownKeys,
  schemaAt,
  withDeploymentOptions,
} from "./json-schema.ts";
import { describeUnknownKey } from "./unknown-key.ts";

export interface ParsedFile {
  /** Undefined if the file has errors. */
  file: ConfigFile | undefined;
  /** The deployments of each model, in the file's order. */
  deployments: readonly (readonly DeploymentConfig[])[];
}

/** Validates the file's value and adds every error to `errors`. `unresolved`: deployments to leave out. */
export function parseFile(
  value: unknown,
  schemas: DeploymentSchemas,
  errors: ConfigErrors,
  unresolved: WeakSet<object> = new WeakSet(),
): ParsedFile {
  const parsed = configFile.safeParse(value, { error: describeIssue });
  if (!parsed.success) report(parsed.error.issues, [], inputSchema(configFile), errors);
  // Parsed even if the surrounding model is invalid, so that one run reports every error.
  const deployments = listAt(value, "models").map((model, m) =>
    listAt(model, "deployments").flatMap((each, d) => {
      const path = ["models", m, "deployments", d];
      if (typeof each === "object" && each !== null && unresolved.has(each)) return [];
      const deployment = parseDeployment(each, path, schemas, errors);
      return deployment === undefined ? [] : [deployment];
    }),
  );
  return { file: parsed.data, deployments };
}

function parseDeployment(
  value: unknown,
  path: Path,
  schemas: DeploymentSchemas,
  errors: ConfigErrors,
): DeploymentConfig | undefined {
  const { engine, ...rest } = asMapping(value) ?? {};
  if (typeof engine !== "string") return undefined;
  const schema = Object.hasOwn(schemas, engine) ? schemas[engine] : undefined;
  if (schema === undefined) {
    const kinds = Object.keys(schemas);
    const meant = nearest(engine, kinds);
    const hint = meant === undefined ? `the engines are ${kinds.join(", ")}` : `did you mean ${meant}?`;
    if (!errors.has([...path, "engine"])) errors.add([...path, "engine"], `is not a known engine; ${hint}`);
    return undefined;
  }
  const isOption = ([key]: [string, unknown]) => Object.hasOwn(deploymentSettings.in.shape, key);
  const entries = Object.entries(rest);
  const options = parseOptions(Object.fromEntries(entries.filter(isOption)), path, errors);
  const settings = Object.fromEntries(entries.filter((entry) => !isOption(entry)));
  const settingNames = knownSettings(schema);
  const parsed = schema.safeParse(settings, { error: describeIssue });
  if (!parsed.success) report(parsed.error.issues, path, settingNames, errors);
  rejectIgnoredKeys(settings, path, settingNames, errors);
  return parsed.success && options !== undefined ? { engine, settings: parsed.data, ...options } : undefined;
}

/** Converted once for each engine: a conversion takes 0.8 ms, and a file may have thousands of deployments. */
const knownByEngine = new WeakMap<ZodType, JsonSchema>();

function knownSettings(schema: ZodType): JsonSchema {
  const converted = knownByEngine.get(schema) ?? withDeploymentOptions(inputSchema(schema));
  knownByEngine.set(schema, converted);
  return converted;
}

function parseOptions(
  value: Record<string, unknown>,
  path: Path,
  errors: ConfigErrors,
): DeploymentSettings | undefined {
  const parsed = deploymentSettings.safeParse(value, { error: describeIssue });
  if (!parsed.success) {
    report(parsed.error.issues, path, inputSchema(deploymentSettings), errors);
    return undefined;
  }
  return parsed.data;
}

/** Unknown keys that are compared with the known ones: one request may send thousands, and none of them by hand. */
const MAX_COMPARED_KEYS = 100;

function report(issues: Parameters<typeof findings>[0], base: Path, schema: JsonSchema, errors: ConfigErrors): void {
  let unknown = 0;
  for (const { path, message, unknownKey } of findings(issues)) {
    const at = [...base, ...path];
    if (unknownKey !== undefined) {
      unknown += 1;
      const keys = unknown > MAX_COMPARED_KEYS ? [] : (knownKeys(schemaAt(schema, path) ?? {}) ?? []);
      errors.add([...at, unknownKey], describeUnknownKey(unknownKey, keys));
    } else if (!errors.has(at)) {
      // A missing variable at this path explains more than what its placeholder breaks.
      errors.add(at, message);
    }
  }
}

/** Rejects keys that the schema would silently drop, such as misspelled settings. */
function rejectIgnoredKeys(
  settings: Record<string, unknown>,
  path: Path,
  schema: JsonSchema,
  errors: ConfigErrors,
): void {
  const keys = knownKeys(schema);
  if (keys === undefined) return;
  const unknown = Object.keys(settings).filter((key) => !keys.includes(key));
  for (const [index, key] of unknown.entries()) {
    errors.add([...path, key], describeUnknownKey(key, index < MAX_COMPARED_KEYS ? keys : []));
  }
}

/** Returns the value if it is a mapping; undefined for lists and plain values. */
export function asMapping(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** List at a key; empty if the value there is not a list. */
export function listAt(value: unknown, key: string): readonly unknown[] {
  const list = asMapping(value)?.[key];
  return Array.isArray(list) ? list : [];
}
