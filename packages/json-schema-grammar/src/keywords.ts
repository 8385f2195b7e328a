/** Translates each keyword into constraints. Keywords that JSON Schema does not define are annotations. */

import { formatLanguage, isCheckedFormat, isPatternAlias, numberFormat } from "./formats.ts";
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

/** What to write instead of an unsupported keyword. */
const SUGGESTIONS: ReadonlyMap<string, string> = new Map([
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
    if (name === "min" && value > max) {
      throw unsupportedKeyword(subschema, keyword, `above ${max} is not`);
    }
    return add(constraints, { [name]: Math.min(value, max) });
  };
};

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (constraints, value: string | string[], { schema }) => {
    // OpenAPI 3.0's `nullable`.
    const isNullable = (schema as Keywords).nullable === true;
    return withTypes(constraints, [...[value].flat(), ...(isNullable ? ["null"] : [])]);
  },
  enum: (constraints, value: unknown[]) => withLiterals(constraints, value),
  const: (constraints, value: unknown) => withLiterals(constraints, [value]),
  minimum: (constraints, value: number) => withNumber(constraints, { minimum: { value, exclusive: false } }),
  exclusiveMinimum: (constraints, value: number) => withNumber(constraints, { minimum: { value, exclusive: true } }),
  maximum: (constraints, value: number) => withNumber(constraints, { maximum: { value, exclusive: false } }),
  exclusiveMaximum: (constraints, value: number) => withNumber(constraints, { maximum: { value, exclusive: true } }),
  multipleOf: (constraints, value: number, subschema, document) => {
    if (!Number.isInteger(value) || value > LIMITS.multipleOf) {
      const which = `other than an integer up to ${LIMITS.multipleOf} is not`;
      document.leaveUnenforced(unsupportedKeyword(subschema, "multipleOf", which));
      return constraints;
    }
    return withNumber(constraints, { integer: true, multipleOf: value });
  },
  minLength: countKeyword("min", withString, LIMITS.stringLength),
  maxLength: countKeyword("max", withString, LIMITS.stringLength),
  pattern: (constraints, value: string, { path }) => {
    checkPattern(value, `${path}.pattern`);
    return withString(constraints, {
      languages: [{ key: `pattern ${value}`, path: `${path}.pattern`, make: () => patternLanguage(value) }],
    });
  },
  format: (constraints, value: string, subschema, document) => {
    const number = numberFormat(value);
    if (number) {
      return withNumber(constraints, number);
    }
    if (isPatternAlias(value, subschema.schema as Keywords)) {
      return constraints;
    }
    const language = formatLanguage(value);
    if (language === undefined) {
      if (isCheckedFormat(value)) {
        document.leaveUnenforced(unsupportedKeyword(subschema, "format", `with the value \`${value}\` is not`));
      }
      return constraints;
    }
    return withString(constraints, {
      languages: [{ key: `format ${value}`, path: `${subschema.path}.format`, ...language }],
    });
  },
  minItems: countKeyword("min", withArray, LIMITS.items),
  maxItems: countKeyword("max", withArray, LIMITS.items),
  uniqueItems: (constraints, value: boolean, { path }) =>
    value ? withArray(constraints, { unique: [`${path}.uniqueItems`] }) : constraints,
  contains: (constraints, _value: unknown, subschema, document) => {
    const { minContains = 1, maxContains } = subschema.schema as Keywords;
    if (minContains !== 0 && minContains !== 1) {
      document.leaveUnenforced(unsupportedKeyword(subschema, "minContains"));
    }
    if (maxContains !== undefined) {
      document.leaveUnenforced(unsupportedKeyword(subschema, "maxContains"));
    }
    return minContains === 0
      ? constraints
      : withArray(constraints, { min: 1, contains: [document.child(subschema, "contains")] });
  },
  minProperties: countKeyword("min", withObject, LIMITS.items),
  maxProperties: countKeyword("max", withObject, LIMITS.items),
  required: (constraints, value: string[]) => withObject(constraints, { required: value }),
  propertyNames: (constraints, _value: unknown, subschema, document) =>
    withObject(constraints, { names: [document.child(subschema, "propertyNames")] }),
  unevaluatedItems: unlessTrue("unevaluatedItems"),
  $dynamicRef: unlessTrue("$dynamicRef"),
  $recursiveRef: unlessTrue("$recursiveRef"),
};

/**
 * Applies the subschema's own keywords, without references, combinators and conditions. Returns undefined when no value is
 * left. `isCondition`: the subschema distinguishes cases, as `if` does.
 */
export function applyKeywords(
  constraints: ValueConstraints,
  subschema: SubschemaRef,
  document: SchemaDocument,
  isCondition: boolean,
): ValueConstraints | undefined {
  const schema = subschema.schema as Keywords;
  let result: ValueConstraints | undefined = constraints;
  for (const [name, value] of Object.entries(schema)) {
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    if (keyword === undefined) {
      continue;
    }
    // Applied even when no value is left: unsupported keywords are refused wherever they appear.
    const next = keyword(result ?? constraints, value as never, subschema, document, name);
    result = result && next;
  }
  result &&= withProperties(result, subschema, document, isCondition);
  return result && withItems(result, subschema, document);
}

function withProperties(
  constraints: ValueConstraints,
  subschema: SubschemaRef,
  document: SchemaDocument,
  isCondition: boolean,
): ValueConstraints | undefined {
  const schema = subschema.schema as Keywords;
  const rest = closing(subschema, document);
  if (schema.properties === undefined && schema.patternProperties === undefined && rest === undefined) {
    return constraints;
  }
  const names = Object.keys((schema.properties ?? {}) as object);
  if (names.includes("__proto__")) {
    throw unsupportedKeyword(subschema, "properties", "with the name `__proto__` is not");
  }
  const properties = new Map(names.map((name) => [name, document.child(subschema, "properties", name)]));
  const patterns = new Map<string, SubschemaRef>();
  for (const pattern of Object.keys((schema.patternProperties ?? {}) as object)) {
    const child = document.child(subschema, "patternProperties", pattern);
    checkPattern(pattern, child.path);
    patterns.set(pattern, child);
  }
  const additional = rest === undefined ? undefined : document.child(subschema, rest);
  return withObject(constraints, { groups: [{ properties, patterns, additional, isCondition }] });
}

const APPLICATORS = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies"];

/** `unevaluatedProperties` equals `additionalProperties` where no other schema applies to the same object. */
function closing(
  subschema: SubschemaRef,
  document: SchemaDocument,
): "additionalProperties" | "unevaluatedProperties" | undefined {
  const schema = subschema.schema as Keywords;
  if (schema.additionalProperties !== undefined) {
    return "additionalProperties";
  }
  if (schema.unevaluatedProperties === undefined || schema.unevaluatedProperties === true) {
    return undefined;
  }
  if (APPLICATORS.some((name) => schema[name] !== undefined)) {
    const which = `next to ${APPLICATORS.map((name) => `\`${name}\``).join(", ")} is not`;
    document.leaveUnenforced(unsupportedKeyword(subschema, "unevaluatedProperties", which));
    return undefined;
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

function unlessTrue(name: string): Keyword {
  return (constraints, value: unknown, subschema, document) => {
    if (value !== true) document.leaveUnenforced(unsupportedKeyword(subschema, name));
    return constraints;
  };
}

function checkPattern(source: string, path: string): void {
  try {
    new RegExp(source, "u");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SchemaError("invalid_schema", `The pattern is malformed: ${reason} (${path}).`, path);
  }
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
