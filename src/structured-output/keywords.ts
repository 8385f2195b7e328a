/** What each keyword adds to a shape. A keyword that is in none of these tables is refused. */

import { type Fault, unsupportedValue } from "../faults.ts";
import { formatLanguage, formatNumber, isNameOfPattern } from "./formats.ts";
import { LIMITS } from "./limits.ts";
import type { Keywords, Place, SchemaDocument } from "./schema-document.ts";
import { type Shape, withArray, withLiterals, withNumber, withObject, withText, withTypes } from "./shape.ts";
import { patternLanguage } from "./text-language.ts";

/** Say nothing about which values are valid, or are followed elsewhere. */
const WITHOUT_EFFECT = new Set([
  "$schema",
  "$comment",
  "$anchor",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "example",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "id",
  // OpenAPI's, beside `oneOf`, as pydantic writes it: says again what the branches say.
  "discriminator",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
]);

/** Tell in a refusal what to write instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["nullable", 'write `"type": ["string", "null"]` instead'],
  ["patternProperties", "name the properties, or bound their names by `propertyNames`"],
  ["uniqueItems", "leave it out, and remove what is doubled from the answer"],
  ["if", "write the cases as `anyOf`"],
  ["not", "say what is allowed instead"],
]);

type Keyword = (
  shape: Shape,
  value: never,
  place: Place,
  document: SchemaDocument,
  keyword: string,
) => Shape | undefined;

const whole = (
  name: "min" | "max",
  add: (shape: Shape, bounds: object) => Shape | undefined,
  most: number,
): Keyword => {
  return (shape, value: number, place, _document, keyword) => {
    if (value > most) {
      throw refusal(place, keyword, `up to ${most}, and no further, is`);
    }
    return add(shape, { [name]: value });
  };
};

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (shape, value: string | string[]) => withTypes(shape, [value].flat()),
  enum: (shape, value: unknown[]) => withLiterals(shape, value),
  const: (shape, value: unknown) => withLiterals(shape, [value]),
  minimum: (shape, value: number) => withNumber(shape, { minimum: { value, exclusive: false } }),
  exclusiveMinimum: (shape, value: number) => withNumber(shape, { minimum: { value, exclusive: true } }),
  maximum: (shape, value: number) => withNumber(shape, { maximum: { value, exclusive: false } }),
  exclusiveMaximum: (shape, value: number) => withNumber(shape, { maximum: { value, exclusive: true } }),
  multipleOf: (shape, value: number, place) => {
    if (!Number.isInteger(value) || value > LIMITS.multipleOf) {
      throw refusal(place, "multipleOf", `of whole numbers up to ${LIMITS.multipleOf}, and of no others, is`);
    }
    return withNumber(shape, { integer: true, multipleOf: value });
  },
  minLength: whole("min", withText, LIMITS.textLength),
  maxLength: whole("max", withText, LIMITS.textLength),
  pattern: (shape, value: string, { path }) =>
    withText(shape, {
      languages: [{ key: `pattern ${value}`, path: `${path}.pattern`, make: () => patternLanguage(value) }],
    }),
  format: (shape, value: string, place) => {
    const number = formatNumber(value);
    if (number) {
      return withNumber(shape, number);
    }
    if (isNameOfPattern(value, place.schema as Keywords)) {
      return shape;
    }
    const language = formatLanguage(value);
    if (language === undefined) {
      throw refusal(place, "format", `of the value \`${value}\` is not`);
    }
    return withText(shape, { languages: [{ key: `format ${value}`, path: `${place.path}.format`, ...language }] });
  },
  minItems: whole("min", withArray, LIMITS.items),
  maxItems: whole("max", withArray, LIMITS.items),
  uniqueItems: (shape, value: boolean, place) => {
    const { maxItems } = place.schema as Keywords;
    if (value && !(typeof maxItems === "number" && maxItems <= 1)) {
      throw refusal(place, "uniqueItems");
    }
    return shape;
  },
  minProperties: whole("min", withObject, LIMITS.items),
  maxProperties: whole("max", withObject, LIMITS.items),
  required: (shape, value: string[]) => withObject(shape, { required: value }),
  propertyNames: (shape, _value: unknown, place, document) =>
    withObject(shape, { names: [document.below(place, "propertyNames")] }),
  patternProperties: emptyOnly("patternProperties"),
  dependentRequired: emptyOnly("dependentRequired"),
  dependentSchemas: emptyOnly("dependentSchemas"),
  dependencies: emptyOnly("dependencies"),
  unevaluatedItems: (shape, value: unknown, place) => {
    if (value !== true) {
      throw refusal(place, "unevaluatedItems");
    }
    return shape;
  },
  not: (shape, value: unknown, place) => {
    const never = value === true || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
    if (value !== false && !never) {
      throw refusal(place, "not");
    }
    return never ? undefined : shape;
  },
};

/** Keywords that mean something only together, by their first word. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  properties: ["properties", "additionalProperties", "unevaluatedProperties"],
  items: ["items", "prefixItems", "additionalItems"],
};

/** Everything that the schema itself says, without what it refers to or combines. Undefined when no value is left. */
export function withKeywords(shape: Shape, place: Place, document: SchemaDocument): Shape | undefined {
  const schema = place.schema as Keywords;
  let result: Shape | undefined = shape;
  for (const [name, value] of Object.entries(schema)) {
    if (WITHOUT_EFFECT.has(name) || name.startsWith("x-") || Object.values(TOGETHER).flat().includes(name)) {
      continue;
    }
    if (name === "$id") {
      checkId(place);
      continue;
    }
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    if (keyword === undefined) {
      throw refusal(place, name);
    }
    // Also when nothing is left: what cannot be enforced is refused wherever it stands.
    const next = keyword(result ?? shape, value as never, place, document, name);
    result = result && next;
  }
  result &&= withProperties(result, place, document);
  return result && withItems(result, place, document);
}

function withProperties(shape: Shape, place: Place, document: SchemaDocument): Shape | undefined {
  const schema = place.schema as Keywords;
  const rest = closing(place);
  if (schema.properties === undefined && rest === undefined) {
    return shape;
  }
  const names = Object.keys((schema.properties ?? {}) as object);
  if (names.includes("__proto__")) {
    throw refusal(place, "properties", "of the name `__proto__` is not");
  }
  const properties = new Map(names.map((name) => [name, document.below(place, "properties", name)]));
  return withObject(shape, {
    groups: [{ properties, additional: rest === undefined ? undefined : document.below(place, rest) }],
  });
}

/** `unevaluatedProperties` is the same as `additionalProperties` where no other schema applies to the same object. */
function closing(place: Place): "additionalProperties" | "unevaluatedProperties" | undefined {
  const schema = place.schema as Keywords;
  if (schema.additionalProperties !== undefined) {
    return "additionalProperties";
  }
  if (schema.unevaluatedProperties === undefined || schema.unevaluatedProperties === true) {
    return undefined;
  }
  if (["$ref", "allOf", "anyOf", "oneOf"].some((name) => schema[name] !== undefined)) {
    throw refusal(place, "unevaluatedProperties", "beside `$ref`, `allOf`, `anyOf` or `oneOf` is not");
  }
  return "unevaluatedProperties";
}

function withItems(shape: Shape, place: Place, document: SchemaDocument): Shape | undefined {
  const { items, prefixItems, additionalItems } = place.schema as Keywords;
  // Drafts before 2020-12 call `prefixItems` and `items` so.
  if (Array.isArray(items) && prefixItems !== undefined) {
    throw refusal(place, "prefixItems", "beside an array of `items`, which says the same, is not");
  }
  if (prefixItems !== undefined && additionalItems !== undefined && additionalItems !== true) {
    throw refusal(place, "additionalItems", "beside `prefixItems`, where `items` says it, is not");
  }
  const [prefixName, restName] = Array.isArray(items) ? ["items", "additionalItems"] : ["prefixItems", "items"];
  const prefix = (Array.isArray(items) ? items : prefixItems) as readonly unknown[] | undefined;
  const rest = Array.isArray(items) ? additionalItems : items;
  if (prefix === undefined && rest === undefined) {
    return shape;
  }
  return withArray(shape, {
    groups: [
      {
        prefix: (prefix ?? []).map((_, index) => document.below(place, prefixName as string, index)),
        rest: rest === undefined ? undefined : document.below(place, restName as string),
      },
    ],
  });
}

function checkId(place: Place): void {
  if (place.pointer !== "#") {
    throw refusal(place, "$id", "inside of a schema, where references would be read from, is not");
  }
}

function emptyOnly(name: string): Keyword {
  return (shape, value: object, place) => {
    if (Object.keys(value).length > 0) {
      throw refusal(place, name);
    }
    return shape;
  };
}

/** `which` says what of it is enforced, or is not. */
export function refusal(place: Place, keyword: string, which?: string): Fault {
  const path = `${place.path}.${keyword}`;
  const instead = INSTEAD.has(keyword) ? `: ${INSTEAD.get(keyword)}` : "";
  return unsupportedValue(
    which === undefined
      ? `\`${keyword}\` cannot be enforced while the answer is written${instead} (${path}).`
      : `\`${keyword}\` ${which} enforced while the answer is written (${path}).`,
    path,
  );
}
