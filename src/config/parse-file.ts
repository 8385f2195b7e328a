/** Checks the values of parlance.yaml against its schema and each deployment against its engine's. */

import type { DeploymentConfig } from "./config.ts";
import { describeIssue, findings } from "./describe-issue.ts";
import type { FaultList, Path } from "./fault-list.ts";
import { type ConfigFile, configFile } from "./file-schema.ts";
import { type DeploymentSchemas, inputSchema, type JsonSchema, knownKeys, schemaAt, withTerms } from "./json-schema.ts";
import { describeUnknownKey, nearest } from "./known-keys.ts";
import { deploymentTerms } from "./model-schema.ts";

export interface ParsedFile {
  /** Undefined when it has faults. */
  file: ConfigFile | undefined;
  /** The deployments of each model, in the file's order. */
  deployments: readonly (readonly DeploymentConfig[])[];
}

export function parseFile(value: unknown, schemas: DeploymentSchemas, faults: FaultList): ParsedFile {
  const parsed = configFile.safeParse(value, { error: describeIssue });
  if (!parsed.success) report(parsed.error.issues, [], inputSchema(configFile), faults);
  // Looked at even when the model around it has a fault, so that one run tells everything.
  const deployments = listAt(value, "models").map((model, m) =>
    listAt(model, "deployments").flatMap((each, d) => {
      const path = ["models", m, "deployments", d];
      const deployment = parseDeployment(each, path, schemas, faults);
      return deployment === undefined ? [] : [deployment];
    }),
  );
  return { file: parsed.data, deployments };
}

function parseDeployment(
  value: unknown,
  path: Path,
  schemas: DeploymentSchemas,
  faults: FaultList,
): DeploymentConfig | undefined {
  const { engine, ...rest } = asMapping(value) ?? {};
  if (typeof engine !== "string") return undefined;
  const schema = Object.hasOwn(schemas, engine) ? schemas[engine] : undefined;
  if (schema === undefined) {
    const kinds = Object.keys(schemas);
    const meant = nearest(engine, kinds);
    const hint = meant === undefined ? `known are ${kinds.join(", ")}` : `did you mean ${meant}?`;
    if (!faults.has([...path, "engine"])) faults.add([...path, "engine"], `names no engine that is known; ${hint}`);
    return undefined;
  }
  const isTerm = ([key]: [string, unknown]) => Object.hasOwn(deploymentTerms.shape, key);
  const entries = Object.entries(rest);
  const terms = parseTerms(Object.fromEntries(entries.filter(isTerm)), path, faults);
  const settings = Object.fromEntries(entries.filter((entry) => !isTerm(entry)));
  const known = withTerms(inputSchema(schema));
  const parsed = schema.safeParse(settings, { error: describeIssue });
  if (!parsed.success) report(parsed.error.issues, path, known, faults);
  refuseIgnored(settings, path, known, faults);
  return parsed.success && terms !== undefined ? { engine, settings: parsed.data, ...terms } : undefined;
}

function parseTerms(
  value: Record<string, unknown>,
  path: Path,
  faults: FaultList,
): Omit<DeploymentConfig, "engine" | "settings"> | undefined {
  const parsed = deploymentTerms.safeParse(value, { error: describeIssue });
  if (!parsed.success) {
    report(parsed.error.issues, path, inputSchema(deploymentTerms), faults);
    return undefined;
  }
  const { weight, price, reuses_prefixes, max_queue, load, unload_after_seconds } = parsed.data;
  return {
    weight,
    price,
    prefixCaching: reuses_prefixes,
    maxQueue: max_queue,
    load,
    unloadAfterSeconds: unload_after_seconds,
  };
}

function report(issues: Parameters<typeof findings>[0], base: Path, schema: JsonSchema, faults: FaultList): void {
  for (const { path, message, unknownKey } of findings(issues)) {
    const at = [...base, ...path];
    if (unknownKey !== undefined) {
      const known = knownKeys(schemaAt(schema, path) ?? {}) ?? [];
      faults.add([...at, unknownKey], describeUnknownKey(unknownKey, known));
    } else if (!faults.has(at)) {
      // A variable that is missing there says more than what its placeholder breaks.
      faults.add(at, message);
    }
  }
}

/** A schema that drops what it does not know would let a misspelt setting pass in silence. */
function refuseIgnored(settings: Record<string, unknown>, path: Path, schema: JsonSchema, faults: FaultList): void {
  const known = knownKeys(schema);
  if (known === undefined) return;
  for (const key of Object.keys(settings)) {
    if (!known.includes(key)) faults.add([...path, key], describeUnknownKey(key, known));
  }
}

export function asMapping(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The list at a key, or an empty one where there is none. */
export function listAt(value: unknown, key: string): readonly unknown[] {
  const list = asMapping(value)?.[key];
  return Array.isArray(list) ? list : [];
}
