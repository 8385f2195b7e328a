/** Schemas of a tool from those of an OpenAPI document: in JSON Schema, without references, within bounds. */

import { isMapping, type Mapping, resolvePointer } from "./resolve-pointer.ts";

/** Depths that are tried until the schema is small enough: what lies deeper accepts anything. */
const DEPTHS = [12, 6, 3, 1];
const MAX_NODES = 3_000;
/** Characters of the JSON of one argument's schema. */
const MAX_LENGTH = 32_768;
const MAX_DESCRIPTION = 1_000;

const COPIED = [
  ...["type", "format", "title", "enum", "const", "default", "multipleOf", "pattern", "required", "uniqueItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"],
  ...["minProperties", "maxProperties", "contentEncoding", "contentMediaType"],
];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE = ["items", "additionalProperties", "not"];

class TooLarge extends Error {}

/** Returns the schema with its references resolved. One that refers to itself accepts anything where it does. */
export function resolveSchema(document: unknown, schema: unknown): Mapping {
  for (const maxDepth of DEPTHS) {
    try {
      const resolved = new Resolution(document, maxDepth).convert(schema, 0, new Set());
      if (JSON.stringify(resolved).length <= MAX_LENGTH) return resolved;
    } catch (failure) {
      if (!(failure instanceof TooLarge)) throw failure;
    }
  }
  return {};
}

class Resolution {
  readonly #document: unknown;
  readonly #maxDepth: number;
  #nodes = 0;

  constructor(document: unknown, maxDepth: number) {
    this.#document = document;
    this.#maxDepth = maxDepth;
  }

  /** `within`: the references that lead here. */
  convert(schema: unknown, depth: number, within: ReadonlySet<string>): Mapping {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw new TooLarge();
    if (schema === false) return { not: {} };
    if (!isMapping(schema)) return {};
    if (typeof schema.$ref === "string") return this.#follow(schema, schema.$ref, depth, within);
    const description = describe(schema.description);
    if (depth > this.#maxDepth) return { ...typeOf(schema), ...description };
    const inner = (value: unknown) => this.convert(value, depth + 1, within);
    const converted: Mapping = { ...pick(schema, COPIED), ...typeOf(schema), ...description };
    for (const keyword of LISTS) {
      const value = schema[keyword];
      if (Array.isArray(value)) converted[keyword] = value.map(inner);
    }
    for (const keyword of SINGLE) {
      const value = schema[keyword];
      if (isMapping(value)) converted[keyword] = inner(value);
      else if (typeof value === "boolean") converted[keyword] = value;
    }
    this.#addProperties(schema, converted, inner);
    return withFormerKeywords(schema, converted);
  }

  #follow(schema: Mapping, reference: string, depth: number, within: ReadonlySet<string>): Mapping {
    const { $ref: _, ...beside } = schema;
    const target = within.has(reference) ? undefined : resolvePointer(this.#document, reference);
    if (target === undefined) return { ...describe(beside.description) };
    const resolved = this.convert(target, depth + 1, new Set([...within, reference]));
    return { ...resolved, ...describe(beside.description) };
  }

  /** What only answers have is not for a model to send. */
  #addProperties(schema: Mapping, converted: Mapping, inner: (value: unknown) => Mapping): void {
    if (!isMapping(schema.properties)) return;
    const sent = Object.entries(schema.properties).filter(
      ([name, value]) => name !== "__proto__" && !(isMapping(value) && value.readOnly === true),
    );
    converted.properties = Object.fromEntries(sent.map(([name, value]) => [name, inner(value)]));
    if (!Array.isArray(schema.required)) return;
    const names = new Set(sent.map(([name]) => name));
    const isAnswered = (name: unknown) =>
      Object.hasOwn(schema.properties as Mapping, String(name)) && !names.has(String(name));
    converted.required = schema.required.filter((name) => typeof name === "string" && !isAnswered(name));
  }
}

function pick(schema: Mapping, keywords: readonly string[]): Mapping {
  return Object.fromEntries(
    keywords.flatMap((keyword) => (Object.hasOwn(schema, keyword) ? [[keyword, schema[keyword]]] : [])),
  );
}

function describe(description: unknown): { description?: string } {
  return typeof description === "string" ? { description: description.slice(0, MAX_DESCRIPTION) } : {};
}

/** OpenAPI 3.0 has `nullable` in place of the type null. */
function typeOf(schema: Mapping): { type?: unknown } {
  const { type, nullable } = schema;
  if (nullable === true && typeof type === "string") return { type: [type, "null"] };
  return type === undefined ? {} : { type };
}

/** Keywords of OpenAPI 3.0 that mean something else in JSON Schema. */
function withFormerKeywords(schema: Mapping, converted: Mapping): Mapping {
  if (schema.nullable === true && Array.isArray(converted.enum) && !converted.enum.includes(null)) {
    converted.enum = [...converted.enum, null];
  }
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof schema[exclusive] !== "boolean") continue;
    delete converted[exclusive];
    if (schema[exclusive] !== true || converted[bound] === undefined) continue;
    converted[exclusive] = converted[bound];
    delete converted[bound];
  }
  return converted;
}
