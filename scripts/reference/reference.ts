/** Generates the configuration reference and the JSON Schema from the configuration's zod schemas. */

import { z } from "zod";
import { deploymentSettings } from "../../src/catalog/model-settings.ts";
import { environmentSchema } from "../../src/config/environment-schema.ts";
import { configJsonSchema, expandedConfigSchema, inputSchema, type JsonSchema } from "../../src/config/json-schema.ts";
import { ENGINES } from "../../src/engines/registry.ts";

const settings = Object.fromEntries(
  Object.values(ENGINES)
    .filter((engine) => engine.isForTests !== true)
    .map((engine) => [engine.name, engine.settings]),
);

/** Content of parlance.schema.json. */
export const publishedSchema: JsonSchema = configJsonSchema(settings);

/** Replaces everything between `<!-- NAME -->` and `<!-- /NAME -->` in `text` with its generated section. */
export function fillReference(text: string): string {
  const schema = expandedConfigSchema(settings);
  const deployments = schema.properties?.models?.items?.properties?.deployments;
  const sections: Record<string, string> = {
    "reference: file": table(keys(schema)),
    "reference: any deployment": table(keys(inputSchema(deploymentSettings))),
    "reference: deployments": engineTables(deployments?.items?.anyOf ?? []),
    "reference: environment": environmentTable(),
  };
  return Object.entries(sections).reduce((filled, [name, section]) => {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const [before, rest] = splitOnce(filled, start);
    const [, after] = splitOnce(rest, end);
    return `${before}${start}\n${section}\n\n${end}${after}`;
  }, text);
}

function splitOnce(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`docs/reference/configuration.md has no ${mark.trim()}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

interface Row {
  key: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** Lists every key. A mapping, or a list of mappings, is followed by its keys. */
function keys(schema: JsonSchema, prefix = ""): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]): Row[] => {
    const key = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) === true;
    if (value.properties !== undefined) return [{ key, schema: value, isRequired }, ...keys(value, `${key}.`)];
    const own = { key, schema: value, isRequired };
    return value.items?.properties === undefined ? [own] : [own, ...keys(value.items, `${key}[].`)];
  });
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ key, schema, isRequired }) => {
    const value = isRequired
      ? "*required*"
      : schema.default === undefined || schema.properties
        ? ""
        : code(schema.default);
    return `| \`${key}\` | ${typeOf(schema)} | ${value} | ${cell(schema.description ?? "")} |`;
  });
  return ["| Key | Value | Default | Meaning |", "|---|---|---|---|", ...lines].join("\n");
}

function engineTables(branches: readonly JsonSchema[]): string {
  const kinds = [...new Set(branches.map(({ properties }) => String(properties?.engine?.const)))];
  return kinds
    .map((kind) => {
      const own = branches.filter(({ properties }) => properties?.engine?.const === kind).map(withoutCommonKeys);
      const rows = new Map(own.flatMap((branch) => keys(branch)).map((row) => [row.key, row]));
      return `### \`engine: ${kind}\`\n\n${table([...rows.values()])}`;
    })
    .join("\n\n");
}

function withoutCommonKeys(branch: JsonSchema): JsonSchema {
  const own = Object.entries(branch.properties ?? {}).filter(
    ([key]) => key !== "engine" && !Object.hasOwn(deploymentSettings.in.shape, key),
  );
  return { ...branch, properties: Object.fromEntries(own) };
}

function environmentTable(): string {
  const { properties = {} } = z.toJSONSchema(environmentSchema, { io: "input", unrepresentable: "any" });
  const lines = Object.entries(properties).map(
    ([name, schema]) => `| \`${name}\` | ${cell((schema as JsonSchema).description ?? "")} |`,
  );
  return ["| Variable | Meaning |", "|---|---|", ...lines].join("\n");
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, const: only, items, properties, additionalProperties, anyOf } = schema;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(", ");
  const choices = values ?? (only === undefined ? undefined : [only]);
  if (choices !== undefined) return choices.map(code).join(", ");
  if (properties !== undefined) return "mapping";
  if (typeof additionalProperties === "object") {
    return `mapping of names to ${additionalProperties.type === "string" ? "strings" : "numbers"}`;
  }
  if (items !== undefined) return items.type === "string" ? "list of strings" : "list";
  if (type === "integer" || type === "number") return numberOf(schema);
  return type === "boolean" ? "`true`, `false`" : "string";
}

function numberOf({ type, minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const word = type === "integer" ? "integer" : "number";
  const lowest = exclusiveMinimum === undefined ? minimum : `more than ${exclusiveMinimum}`;
  if (lowest === undefined && maximum === undefined) return word;
  if (maximum === undefined) return `${word}, ${exclusiveMinimum === undefined ? `at least ${lowest}` : lowest}`;
  return `${word}, ${lowest} to ${maximum}`;
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
