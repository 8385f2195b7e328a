/** A JSON Schema as the caller sent it: checked, and every place in it known by its path. */

import { Ajv, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { invalidRequest, unsupportedValue } from "../faults.ts";
import { LIMITS } from "./limits.ts";

/** A schema inside the document. */
export interface Place {
  /** JSON pointer, which tells places apart. */
  readonly pointer: string;
  /** For errors, such as `response_format.json_schema.schema.properties.age`. */
  readonly path: string;
  readonly schema: boolean | Keywords;
}

export type Keywords = Readonly<Record<string, unknown>>;

const EARLIER_DRAFT = /^https?:\/\/json-schema\.org\/draft-0[4-7]\//;

export class SchemaDocument {
  readonly root: Place;
  readonly #param: string;
  readonly #checked = new Set<string>();

  /** Throws a Fault when it is no JSON Schema or too large to be looked at. */
  constructor(schema: unknown, param: string) {
    this.#param = param;
    checkSize(schema, param);
    checkKeywords(schema, param);
    this.root = { pointer: "#", path: param, schema: schema as boolean | Keywords };
  }

  /** The schema that stands under these keys of another. */
  below({ pointer, path, schema }: Place, ...keys: readonly (string | number)[]): Place {
    return {
      pointer: pointer + keys.map((key) => `/${escapePointer(String(key))}`).join(""),
      path: path + keys.map(pathPart).join(""),
      schema: keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], schema) as Keywords,
    };
  }

  /** Throws a Fault when the reference leads out of the document or nowhere. */
  referred(reference: string, path: string): Place {
    if (reference !== "#" && !reference.startsWith("#/")) {
      throw unsupportedValue(
        `Only references inside the schema, such as \`#/$defs/name\`, are followed: ${path}.`,
        path,
      );
    }
    const keys = reference.slice(2).split("/").map(unescapePointer);
    let value: unknown = this.root.schema;
    for (const key of reference === "#" ? [] : keys) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
        throw invalidRequest(`\`${reference}\` refers to nothing in the schema: ${path}.`, path, "invalid_value");
      }
      value = (value as Record<string, unknown>)[key];
    }
    if (reference === "#") {
      return this.root;
    }
    const place = this.below(this.root, ...keys);
    const isDefinition = keys.length === 2 && ["$defs", "definitions"].includes(keys[0] ?? "");
    if (!isDefinition && !this.#checked.has(place.pointer)) {
      // Where definitions do not stand, the whole document's check may not have looked.
      checkKeywords(value, place.path);
      this.#checked.add(place.pointer);
    }
    return { ...place, path: this.#param + keys.map(pathPart).join("") };
  }
}

/** Whether it is written as drafts before 2020-12 want it, where a tuple's items are an array. */
export function isEarlierDraft(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) {
    return false;
  }
  const draft = (schema as Keywords).$schema;
  return typeof draft === "string" ? EARLIER_DRAFT.test(draft) : hasItemsArray(schema);
}

/** The first violation as `path message`. */
export function describeViolation(errors: readonly ErrorObject[] | null | undefined): string {
  const [error] = errors ?? [];
  return `${error?.instancePath || "/"} ${error?.message ?? "is not valid"}`;
}

function checkSize(schema: unknown, param: string): void {
  const open: Array<[value: unknown, depth: number]> = [[schema, 0]];
  let values = 0;
  let characters = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    values += 1;
    characters += typeof value === "string" ? value.length : 0;
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw invalidRequest("The schema holds a number beyond what JSON readers count to.", param, "invalid_value");
    }
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        characters += Array.isArray(value) ? 0 : key.length;
        open.push([inner, depth + 1]);
      }
    }
    const beyond =
      values > LIMITS.values
        ? `${LIMITS.values} values`
        : depth > LIMITS.depth
          ? `${LIMITS.depth} levels`
          : characters > LIMITS.characters
            ? `${LIMITS.characters} characters`
            : undefined;
    if (beyond !== undefined) {
      throw invalidRequest(`The schema is too large: at most ${beyond} are taken.`, param, "invalid_value");
    }
  }
}

const META_SCHEMAS = { strict: false, logger: false, validateFormats: false } as const;
const draft2020 = new Ajv2020(META_SCHEMAS);
const draft7 = new Ajv(META_SCHEMAS);

function checkKeywords(schema: unknown, path: string): void {
  const isEarlier = isEarlierDraft(schema);
  // Keywords of later drafts are followed in earlier ones too, whose own check does not look at them.
  const error =
    (isEarlier ? firstError(draft7, DRAFT_7, schema) : undefined) ??
    firstError(draft2020, DRAFT_2020, isEarlier ? asLaterDraft(schema) : schema);
  if (error) {
    const at = path + error.instancePath.split("/").slice(1).map(unescapePointer).map(pathPart).join("");
    throw invalidRequest(`\`${at}\` is no valid JSON Schema: it ${error.message ?? "is broken"}.`, at, "invalid_value");
  }
}

function firstError(ajv: Ajv, draft: string, schema: unknown): ErrorObject | undefined {
  const check = ajv.getSchema(draft);
  return check && !check(schema) ? check.errors?.[0] : undefined;
}

/** With tuples as later drafts write them, and without the anchors that earlier ones write as `$id`. */
function asLaterDraft(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(asLaterDraft);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "$id" || typeof inner !== "string")
      .map(([key, inner]) => [key === "items" && Array.isArray(inner) ? "prefixItems" : key, asLaterDraft(inner)]),
  );
}

const DRAFT_7 = "http://json-schema.org/draft-07/schema";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

/** Keywords whose values are no schemas. */
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

const escapePointer = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

function unescapePointer(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // A stray % stands for itself.
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** An array's index, or a name as it would be written in JavaScript. */
function pathPart(key: string | number): string {
  if (/^\d+$/.test(String(key))) {
    return `[${key}]`;
  }
  return /^[\w$-]+$/.test(String(key)) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
