/** JSON Schema of parlance.yaml for editors and documentation, generated from the zod schemas. */

import { type ZodType, z } from "zod";
import { ADDRESS_SETTINGS } from "../catalog/connection-settings.ts";
import { deploymentSettings } from "../catalog/model-settings.ts";
import { itemsOf } from "../kernel/list-of.ts";
import { configFile } from "./file-schema.ts";

export type DeploymentSchemas = Readonly<Record<string, ZodType>>;

/** Subset of JSON Schema that this file reads. */
export interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  format?: string;
  [keyword: string]: unknown;
}

/** JSON Schema of a zod schema's input, before defaults and transforms. */
export function inputSchema(schema: ZodType): JsonSchema {
  // Editors' YAML extensions support draft 7 best.
  return z.toJSONSchema(schema, {
    ...{ io: "input", target: "draft-7", unrepresentable: "any" },
    override: ({ zodSchema, jsonSchema }) => {
      const items = itemsOf(zodSchema as unknown as ZodType);
      if (items === undefined) return;
      const { $schema: _, ...itemSchema } = inputSchema(items);
      jsonSchema.items = itemSchema as typeof jsonSchema;
    },
  }) as JsonSchema;
}

/** JSON Schema of the file with the settings of each engine, by engine name. What engines have in common stands once. */
export function configJsonSchema(deploymentSchemas: DeploymentSchemas): JsonSchema {
  const schema = expandedConfigSchema(deploymentSchemas);
  const deployments = schemaAt(schema, ["models", 0, "deployments", 0])?.anyOf ?? [];
  const counts = new Map<string, number>();
  for (const each of deployments.flatMap(({ properties = {} }) => Object.values(properties))) {
    const text = JSON.stringify(each);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const definitions: Record<string, JsonSchema> = {};
  const share = (key: string, value: JsonSchema): JsonSchema => {
    const text = JSON.stringify(value);
    if ((counts.get(text) ?? 0) < 2 || text.length <= MAX_REPEATED_CHARACTERS) return value;
    const sharing = Object.keys(definitions).filter((each) => each === key || each.startsWith(`${key}_`)).length;
    const name = names.get(text) ?? (sharing === 0 ? key : `${key}_${sharing + 1}`);
    names.set(text, name);
    definitions[name] = value;
    return { $ref: `#/definitions/${name}` };
  };
  for (const each of deployments) {
    const shared = Object.entries(each.properties ?? {}).map(([key, value]) => [key, share(key, value)]);
    each.properties = Object.fromEntries(shared);
  }
  return { ...schema, definitions };
}

/** Repeating a shorter schema is easier to read than a reference. */
const MAX_REPEATED_CHARACTERS = 100;

/** As `configJsonSchema`, without references. */
export function expandedConfigSchema(deploymentSchemas: DeploymentSchemas): JsonSchema {
  const schema = inputSchema(configFile);
  const model = schema.properties?.models?.items;
  const deployments = model?.properties?.deployments;
  if (model === undefined || deployments === undefined)
    throw new Error("The schema of parlance.yaml has no deployments");
  // A model with deployments is not a built-in one, whose task is known.
  model.dependencies = { deployments: ["task"] };
  const alternatives = Object.entries(deploymentSchemas).flatMap(([engine, each]) => branches(engine, each));
  deployments.items = { anyOf: [...alternatives, ...alternatives.filter(isUpstream).map(withConnection)] };
  return { title: "parlance.yaml", description: "Configuration of Parlance.", ...forEditors(schema) };
}

/** An engine's settings with the key `engine`; one branch for each alternative of a union. */
function branches(engine: string, settings: ZodType): JsonSchema[] {
  const { $schema: _, ...schema } = inputSchema(settings);
  return (schema.anyOf ?? schema.oneOf ?? [schema]).map((branch) => ({
    ...branch,
    type: "object",
    properties: { engine: { const: engine }, ...branch.properties, ...inputSchema(deploymentSettings).properties },
    required: ["engine", ...(branch.required ?? [])],
    additionalProperties: branch.additionalProperties ?? false,
  }));
}

function isUpstream({ properties }: JsonSchema): boolean {
  return properties?.base_url !== undefined;
}

/** The branch of a deployment that takes its address from a connection. */
function withConnection({ properties = {}, required = [], ...branch }: JsonSchema): JsonSchema {
  const others = Object.entries(properties).filter(([key]) => !ADDRESS_SETTINGS.some((each) => each === key));
  const connection = { type: "string", description: "Name of an entry of `connections`" };
  return {
    ...branch,
    properties: { ...Object.fromEntries(others), connection },
    required: ["connection", ...required.filter((key) => key !== "engine" && key !== "base_url")],
  };
}

/** An engine's settings with the options of every deployment. */
export function withDeploymentOptions(settings: JsonSchema): JsonSchema {
  const add = (branch: JsonSchema): JsonSchema => ({
    ...branch,
    properties: { ...branch.properties, ...inputSchema(deploymentSettings).properties },
  });
  if (settings.anyOf !== undefined) return { ...settings, anyOf: settings.anyOf.map(add) };
  return settings.oneOf === undefined ? add(settings) : { ...settings, oneOf: settings.oneOf.map(add) };
}

const UNBOUNDED: ReadonlySet<unknown> = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/** Lets every pattern accept `${NAME}`, and removes formats and the bounds that only Zod adds. */
function forEditors(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: JsonSchema) => {
    if (key === "format" || UNBOUNDED.has(value)) return undefined;
    if (value?.type !== "string" || value.pattern === undefined) return value;
    return { ...value, pattern: `(${value.pattern})|\\$\\{` };
  });
}

/** Keys that a mapping may have; undefined if it may have any. */
export function knownKeys(schema: JsonSchema): string[] | undefined {
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  if (isOpen && alternatives.length === 0) return undefined;
  const all = [...Object.keys(schema.properties ?? {}), ...alternatives.flatMap((each) => knownKeys(each) ?? [])];
  return [...new Set(all)];
}

/** Subschema at a path of keys and indices. */
export function schemaAt(schema: JsonSchema, path: readonly (string | number)[]): JsonSchema | undefined {
  const [part, ...rest] = path;
  if (part === undefined) return schema;
  const alternatives = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  for (const each of alternatives) {
    const { items, properties = {} } = each;
    const next = typeof part === "number" ? items : Object.hasOwn(properties, part) ? properties[part] : undefined;
    if (next !== undefined) return schemaAt(next, rest);
  }
  return undefined;
}
