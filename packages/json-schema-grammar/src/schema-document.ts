/** A JSON Schema document, checked against its meta-schema, whose subschemas are addressed by JSON Pointer. */

import { Ajv, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { LIMITS } from "./limits.ts";
import { SchemaError } from "./schema-error.ts";
import { SchemaIds } from "./schema-ids.ts";

/** A subschema and its location in the document. */
export interface SubschemaRef {
  /** JSON Pointer, which identifies the subschema. */
  readonly pointer: string;
  /** Path for errors, such as `response_format.json_schema.schema.properties.age`. */
  readonly path: string;
  readonly schema: boolean | Keywords;
}

export type Keywords = Readonly<Record<string, unknown>>;

const LEGACY_DRAFT = /^https?:\/\/json-schema\.org\/draft-0[4-7]\//;

export class SchemaDocument {
  readonly root: SubschemaRef;
  readonly #path: string;
  readonly #checked = new Set<string>();
  readonly #ids: SchemaIds;
  readonly #unenforced: Set<string> | undefined;

  /**
   * Throws a SchemaError when `schema` is not a JSON Schema or exceeds the limits. `path` is its location, for errors.
   * `unenforced` collects the keywords that the grammar does not enforce; without it, they are refused.
   */
  constructor(schema: unknown, path: string, unenforced?: Set<string>) {
    this.#path = path;
    this.#unenforced = unenforced;
    checkSize(schema, path);
    const modern = withoutDraft4(schema);
    checkKeywords(modern, path);
    this.#ids = new SchemaIds(modern);
    this.root = { pointer: "#", path: path, schema: modern as boolean | Keywords };
  }

  /** Records that the grammar does not enforce a keyword. Throws the error when everything has to be enforced. */
  leaveUnenforced(error: SchemaError): void {
    if (this.#unenforced === undefined) throw error;
    this.#unenforced.add(error.path);
  }

  /** The subschema under these keys. */
  child({ pointer, path, schema }: SubschemaRef, ...keys: readonly (string | number)[]): SubschemaRef {
    return {
      pointer: pointer + keys.map((key) => `/${escapePointer(String(key))}`).join(""),
      path: path + keys.map(pathPart).join(""),
      schema: keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], schema) as Keywords,
    };
  }

  /** Resolves a `$ref`. Throws a SchemaError when it leaves the document or its target does not exist. */
  resolve(reference: string, from: SubschemaRef): SubschemaRef {
    const path = `${from.path}.$ref`;
    const pointer = this.#ids.resolve(reference, from.pointer);
    if (pointer === undefined) {
      throw new SchemaError(
        "unsupported",
        `Only references within the schema, such as \`#/$defs/name\`, are supported: ${path}.`,
        path,
      );
    }
    const keys = pointer.slice(2).split("/").map(unescapePointer);
    let value: unknown = this.root.schema;
    for (const key of pointer === "#" ? [] : keys) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
        throw new SchemaError("invalid_schema", `\`${reference}\` does not exist in the schema: ${path}.`, path);
      }
      value = (value as Record<string, unknown>)[key];
    }
    if (pointer === "#") {
      return this.root;
    }
    const subschema = this.child(this.root, ...keys);
    const isDefinition = keys.length === 2 && ["$defs", "definitions"].includes(keys[0] ?? "");
    if (!isDefinition && !this.#checked.has(subschema.pointer)) {
      // The check of the document covers `$defs` and `definitions`, but not schemas at arbitrary locations.
      checkKeywords(value, subschema.path);
      this.#checked.add(subschema.pointer);
    }
    return { ...subschema, path: this.#path + keys.map(pathPart).join("") };
  }
}

/** Whether the schema follows a draft before 2020-12, where an array of `items` describes a tuple. */
export function isLegacyDraft(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) {
    return false;
  }
  const draft = (schema as Keywords).$schema;
  return typeof draft === "string" ? LEGACY_DRAFT.test(draft) : hasItemsArray(schema);
}

/** Formats the first violation as `path message`. */
export function describeViolation(errors: readonly ErrorObject[] | null | undefined): string {
  const [error] = errors ?? [];
  return `${error?.instancePath || "/"} ${error?.message ?? "is not valid"}`;
}

function checkSize(schema: unknown, path: string): void {
  const open: Array<[value: unknown, depth: number]> = [[schema, 0]];
  const size = { values: 0, depth: 0, characters: 0 };
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    size.values += 1;
    size.depth = Math.max(size.depth, depth);
    size.characters += charactersOf(value);
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new SchemaError("invalid_schema", "The schema contains a number outside the range of a double.", path);
    }
    for (const inner of Object.values(Object(value) === value ? (value as object) : {})) open.push([inner, depth + 1]);
    checkLimits(size, path);
  }
}

/** Characters of a text, or of the names of an object. */
function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return 0;
  return Object.keys(value).reduce((sum, key) => sum + key.length, 0);
}

const UNITS = { values: "values", depth: "levels", characters: "characters" } as const;

function checkLimits(size: Readonly<Record<keyof typeof UNITS, number>>, path: string): void {
  for (const name of ["values", "depth", "characters"] as const) {
    if (size[name] <= LIMITS[name]) continue;
    const message = `The schema is too large: the maximum is ${LIMITS[name]} ${UNITS[name]}.`;
    throw new SchemaError("too_complex", message, path);
  }
}

const META_SCHEMAS = { strict: false, logger: false, validateFormats: false } as const;
const draft2020 = new Ajv2020(META_SCHEMAS);
const draft7 = new Ajv(META_SCHEMAS);

function checkKeywords(schema: unknown, path: string): void {
  const isLegacy = isLegacyDraft(schema);
  // Keywords of later drafts also take effect in earlier ones, whose meta-schema ignores them.
  const error =
    (isLegacy ? firstError(draft7, DRAFT_7, schema) : undefined) ??
    firstError(draft2020, DRAFT_2020, isLegacy ? toDraft2020(schema) : schema);
  if (error) {
    const at = path + error.instancePath.split("/").slice(1).map(unescapePointer).map(pathPart).join("");
    throw new SchemaError(
      "invalid_schema",
      `\`${at}\` is not a valid JSON Schema: it ${error.message ?? "is malformed"}.`,
      at,
    );
  }
}

function firstError(ajv: Ajv, draft: string, schema: unknown): ErrorObject | undefined {
  const check = ajv.getSchema(draft);
  return check && !check(schema) ? check.errors?.[0] : undefined;
}

/** Rewrites tuples to `prefixItems` and drops `$id`, which earlier drafts also use for anchors. */
function toDraft2020(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(toDraft2020);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "$id" || typeof inner !== "string")
      .map(([key, inner]) => [key === "items" && Array.isArray(inner) ? "prefixItems" : key, toDraft2020(inner)]),
  );
}

const DRAFT_7 = "http://json-schema.org/draft-07/schema";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

/** Keywords whose values are not schemas. */
const VALUES = new Set(["default", "enum", "const", "example", "examples"]);

function hasItemsArray(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) {
    return false;
  }
  return (
    (!Array.isArray(schema) && Array.isArray((schema as Keywords).items)) ||
    Object.entries(schema).some(([key, inner]) => !VALUES.has(key) && hasItemsArray(inner))
  );
}

/** Rewrites draft 4's boolean `exclusiveMinimum` and `exclusiveMaximum`, and its `id`. */
export function withoutDraft4(schema: unknown): unknown {
  const isDraft4 = /^https?:\/\/json-schema\.org\/draft-04\//.test(String(Object(schema).$schema));
  return modernized(schema, isDraft4);
}

function modernized(value: unknown, isDraft4: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => modernized(inner, isDraft4));
  const entries = Object.entries(value).flatMap(([key, inner]): Array<[string, unknown]> => {
    if (VALUES.has(key)) return [[key, inner]];
    if (BOUNDS.has(key)) return modernizedBound(key, inner, value as Keywords);
    if (isDraft4 && key === "id" && typeof inner === "string") return [["$id", inner]];
    return [[key, modernized(inner, isDraft4)]];
  });
  return Object.fromEntries(entries);
}

const escapePointer = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

function unescapePointer(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // Keep a stray % as it is.
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** JavaScript notation of an array index or a property name. */
function pathPart(key: string | number): string {
  if (/^\d+$/.test(String(key))) {
    return `[${key}]`;
  }
  return /^[\w$-]+$/.test(String(key)) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Draft 4's names of what excludes a bound, and the bounds. */
const BOUNDS: ReadonlyMap<string, string> = new Map([
  ["minimum", "exclusiveMinimum"],
  ["maximum", "exclusiveMaximum"],
  ["exclusiveMinimum", "exclusiveMinimum"],
  ["exclusiveMaximum", "exclusiveMaximum"],
]);

/** An exclusive bound takes the place of the boolean that excludes it. */
function modernizedBound(key: string, inner: unknown, schema: Keywords): Array<[string, unknown]> {
  const exclusive = BOUNDS.get(key) ?? key;
  const isExclusive = schema[exclusive];
  if (key === exclusive) return typeof isExclusive === "boolean" ? [] : [[key, inner]];
  return [[isExclusive === true ? exclusive : key, inner]];
}
