/** Translates each keyword into constraints. A keyword that none of these tables lists is refused. */

import { formatLanguage, isPatternAlias, numberFormat } from "./formats.ts";
import { LIMITS } from "./limits.ts";
import type { Keywords, SchemaDocument, SubschemaRef } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import { patternLanguage } from "./string-language.ts";
import {
  type ValueConstraints,
  withArray,
  withLiterals,
  withNumber,
  withObject,
  withString,
  withTypes,
} from "./value-constraints.ts";

/** Keywords that do not constrain values, or that `intersect-schemas.ts` handles. */
const ANNOTATIONS = new Set([
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
  // OpenAPI's, which pydantic writes next to `oneOf`: repeats what the branches say.
  "discriminator",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
]);

/** What to write instead of an unsupported keyword. */
const SUGGESTIONS: ReadonlyMap<string, string> = new Map([
  ["nullable", 'write `"type": ["string", "null"]` instead'],
  ["patternProperties", "list the properties, or constrain their names with `propertyNames`"],
  ["uniqueItems", "remove it, and drop duplicates from the answer"],
  ["if", "write the cases as `anyOf`"],
  ["not", "describe the allowed values instead"],
]);

type Keyword = (
  constraints: ValueConstraints,
  value: never,
  subschema: SubschemaRef,
  document: SchemaDocument,
  keyword: string,
) => ValueConstraints | undefined;

const countKeyword = (
  name: "min" | "max",
  add: (constraints: ValueConstraints, bounds: object) => ValueConstraints | undefined,
  max: number,
): Keyword => {
  return (constraints, value: number, subschema, _document, keyword) => {
    if (value > max) {
      throw unsupportedKeyword(subschema, keyword, `above ${max} is not`);
    }
    return add(constraints, { [name]: value });
  };
};

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (constraints, value: string | string[]) => withTypes(constraints, [value].flat()),
  enum: (constraints, value: unknown[]) => withLiterals(constraints, value),
  const: (constraints, value: unknown) => withLiterals(constraints, [value]),
  minimum: (constraints, value: number) => withNumber(constraints, { minimum: { value, exclusive: false } }),
  exclusiveMinimum: (constraints, value: number) => withNumber(constraints, { minimum: { value, exclusive: true } }),
  maximum: (constraints, value: number) => withNumber(constraints, { maximum: { value, exclusive: false } }),
  exclusiveMaximum: (constraints, value: number) => withNumber(constraints, { maximum: { value, exclusive: true } }),
  multipleOf: (constraints, value: number, subschema) => {
    if (!Number.isInteger(value) || value > LIMITS.multipleOf) {
      throw unsupportedKeyword(subschema, "multipleOf", `other than an integer up to ${LIMITS.multipleOf} is not`);
    }
    return withNumber(constraints, { integer: true, multipleOf: value });
  },
  minLength: countKeyword("min", withString, LIMITS.stringLength),
  maxLength: countKeyword("max", withString, LIMITS.stringLength),
  pattern: (constraints, value: string, { path }) =>
    withString(constraints, {
      languages: [{ key: `pattern ${value}`, path: `${path}.pattern`, make: () => patternLanguage(value) }],
    }),
  format: (constraints, value: string, subschema) => {
    const number = numberFormat(value);
    if (number) {
      return withNumber(constraints, number);
    }
    if (isPatternAlias(value, subschema.schema as Keywords)) {
      return constraints;
    }
    const language = formatLanguage(value);
    if (language === undefined) {
      throw unsupportedKeyword(subschema, "format", `with the value \`${value}\` is not`);
    }
    return withString(constraints, {
      languages: [{ key: `format ${value}`, path: `${subschema.path}.format`, ...language }],
    });
  },
  minItems: countKeyword("min", withArray, LIMITS.items),
  maxItems: countKeyword("max", withArray, LIMITS.items),
  uniqueItems: (constraints, value: boolean, subschema) => {
    const { maxItems } = subschema.schema as Keywords;
    if (value && !(typeof maxItems === "number" && maxItems <= 1)) {
      throw unsupportedKeyword(subschema, "uniqueItems");
    }
    return constraints;
  },
  minProperties: countKeyword("min", withObject, LIMITS.items),
  maxProperties: countKeyword("max", withObject, LIMITS.items),
  required: (constraints, value: string[]) => withObject(constraints, { required: value }),
  propertyNames: (constraints, _value: unknown, subschema, document) =>
    withObject(constraints, { names: [document.child(subschema, "propertyNames")] }),
  patternProperties: emptyOnly("patternProperties"),
  dependentRequired: emptyOnly("dependentRequired"),
  dependentSchemas: emptyOnly("dependentSchemas"),
  dependencies: emptyOnly("dependencies"),
  unevaluatedItems: (constraints, value: unknown, subschema) => {
    if (value !== true) {
      throw unsupportedKeyword(subschema, "unevaluatedItems");
    }
    return constraints;
  },
  not: (constraints, value: unknown, subschema) => {
    const never = value === true || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
    if (value !== false && !never) {
      throw unsupportedKeyword(subschema, "not");
    }
    return never ? undefined : constraints;
  },
};

/** Keywords that are only meaningful in combination. */
const KEYWORD_GROUPS: Readonly<Record<string, readonly string[]>> = {
  properties: ["properties", "additionalProperties", "unevaluatedProperties"],
  items: ["items", "prefixItems", "additionalItems"],
};

/** Applies the subschema's own keywords, without references and combinators. Returns undefined when no value is left. */
export function applyKeywords(
  constraints: ValueConstraints,
  subschema: SubschemaRef,
  document: SchemaDocument,
): ValueConstraints | undefined {
  const schema = subschema.schema as Keywords;
  let result: ValueConstraints | undefined = constraints;
  for (const [name, value] of Object.entries(schema)) {
    if (ANNOTATIONS.has(name) || name.startsWith("x-") || Object.values(KEYWORD_GROUPS).flat().includes(name)) {
      continue;
    }
    if (name === "$id") {
      checkId(subschema);
      continue;
    }
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    if (keyword === undefined) {
      throw unsupportedKeyword(subschema, name);
    }
    // Applied even when no value is left: unsupported keywords are refused wherever they appear.
    const next = keyword(result ?? constraints, value as never, subschema, document, name);
    result = result && next;
  }
  result &&= withProperties(result, subschema, document);
  return result && withItems(result, subschema, document);
}

function withProperties(
  constraints: ValueConstraints,
  subschema: SubschemaRef,
  document: SchemaDocument,
): ValueConstraints | undefined {
  const schema = subschema.schema as Keywords;
  const rest = closing(subschema);
  if (schema.properties === undefined && rest === undefined) {
    return constraints;
  }
  const names = Object.keys((schema.properties ?? {}) as object);
  if (names.includes("__proto__")) {
    throw unsupportedKeyword(subschema, "properties", "with the name `__proto__` is not");
  }
  const properties = new Map(names.map((name) => [name, document.child(subschema, "properties", name)]));
  return withObject(constraints, {
    groups: [{ properties, additional: rest === undefined ? undefined : document.child(subschema, rest) }],
  });
}

/** `unevaluatedProperties` equals `additionalProperties` where no other schema applies to the same object. */
function closing(subschema: SubschemaRef): "additionalProperties" | "unevaluatedProperties" | undefined {
  const schema = subschema.schema as Keywords;
  if (schema.additionalProperties !== undefined) {
    return "additionalProperties";
  }
  if (schema.unevaluatedProperties === undefined || schema.unevaluatedProperties === true) {
    return undefined;
  }
  if (["$ref", "allOf", "anyOf", "oneOf"].some((name) => schema[name] !== undefined)) {
    throw unsupportedKeyword(subschema, "unevaluatedProperties", "next to `$ref`, `allOf`, `anyOf` or `oneOf` is not");
  }
  return "unevaluatedProperties";
}

function withItems(
  constraints: ValueConstraints,
  subschema: SubschemaRef,
  document: SchemaDocument,
): ValueConstraints | undefined {
  const { items, prefixItems, additionalItems } = subschema.schema as Keywords;
  // Drafts before 2020-12 call `prefixItems` and `items` `items` and `additionalItems`.
  if (Array.isArray(items) && prefixItems !== undefined) {
    throw unsupportedKeyword(subschema, "prefixItems", "next to an array of `items`, its older name, is not");
  }
  if (prefixItems !== undefined && additionalItems !== undefined && additionalItems !== true) {
    throw unsupportedKeyword(
      subschema,
      "additionalItems",
      "next to `prefixItems`, whose counterpart is `items`, is not",
    );
  }
  const [prefixName, restName] = Array.isArray(items) ? ["items", "additionalItems"] : ["prefixItems", "items"];
  const prefix = (Array.isArray(items) ? items : prefixItems) as readonly unknown[] | undefined;
  const rest = Array.isArray(items) ? additionalItems : items;
  if (prefix === undefined && rest === undefined) {
    return constraints;
  }
  return withArray(constraints, {
    groups: [
      {
        prefix: (prefix ?? []).map((_, index) => document.child(subschema, prefixName as string, index)),
        rest: rest === undefined ? undefined : document.child(subschema, restName as string),
      },
    ],
  });
}

function checkId(subschema: SubschemaRef): void {
  if (subschema.pointer !== "#") {
    throw unsupportedKeyword(subschema, "$id", "in a subschema, where it would change the base of references, is not");
  }
}

function emptyOnly(name: string): Keyword {
  return (constraints, value: object, subschema) => {
    if (Object.keys(value).length > 0) {
      throw unsupportedKeyword(subschema, name);
    }
    return constraints;
  };
}

/** `which` narrows down the unsupported use of the keyword. */
export function unsupportedKeyword(subschema: SubschemaRef, keyword: string, which?: string): SchemaError {
  const path = `${subschema.path}.${keyword}`;
  const suggestion = SUGGESTIONS.has(keyword) ? `: ${SUGGESTIONS.get(keyword)}` : "";
  return new SchemaError(
    "unsupported",
    which === undefined
      ? `\`${keyword}\` cannot be enforced during generation${suggestion} (${path}).`
      : `\`${keyword}\` ${which} enforceable during generation (${path}).`,
    path,
  );
}
