/** The values that violate a schema, keyword by keyword. */

import type { Keywords, SchemaDocument, SubschemaRef } from "./schema-document.ts";
import { complementLanguage, complementOf, patternLanguage } from "./string-language.ts";
import {
  JSON_TYPES,
  literalKey,
  type PropertyGroup,
  typeOf,
  type ValueConstraints,
  withArray,
  withLiterals,
  withNumber,
  withObject,
  withString,
  withTypes,
} from "./value-constraints.ts";

/** Values that violate a schema. */
export interface Violations {
  alternatives: ValueConstraints[];
  /** False when others violate it too, which constraints cannot describe. */
  isComplete: boolean;
}

/** Numbers of one `enum` that are excluded as ranges. */
const EXCLUDED_NUMBERS = 6;

type Negation = (
  constraints: ValueConstraints,
  value: never,
  subschema: SubschemaRef,
  document: SchemaDocument,
) => Partial<Violations>;

const only = (constraints: ValueConstraints, type: string) => withTypes(constraints, [type]);
const some = (...alternatives: ReadonlyArray<ValueConstraints | undefined>) => ({
  alternatives: alternatives.filter((constraints) => constraints !== undefined),
});
const UNKNOWN: Partial<Violations> = { isComplete: false };

const NEGATIONS: Readonly<Record<string, Negation>> = {
  type: (constraints, value: string | string[]) => {
    const names = new Set([value].flat().map((name) => (name === "integer" ? "number" : name)));
    const others = JSON_TYPES.filter((type) => !names.has(type));
    const isComplete = ![value].flat().includes("integer") || [value].flat().includes("number");
    return { ...some(withTypes(constraints, others)), isComplete };
  },
  enum: (constraints, value: unknown[], { path }) => withoutLiterals(constraints, value, `${path}.enum`),
  const: (constraints, value: unknown, { path }) => withoutLiterals(constraints, [value], `${path}.const`),
  minimum: numberNegation((value) => ({ maximum: { value, exclusive: true } })),
  exclusiveMinimum: numberNegation((value) => ({ maximum: { value, exclusive: false } })),
  maximum: numberNegation((value) => ({ minimum: { value, exclusive: true } })),
  exclusiveMaximum: numberNegation((value) => ({ minimum: { value, exclusive: false } })),
  multipleOf: () => UNKNOWN,
  minLength: (constraints, value: number) => countNegation(constraints, "string", "min", value),
  maxLength: (constraints, value: number) => countNegation(constraints, "string", "max", value),
  minItems: (constraints, value: number) => countNegation(constraints, "array", "min", value),
  maxItems: (constraints, value: number) => countNegation(constraints, "array", "max", value),
  minProperties: (constraints, value: number) => countNegation(constraints, "object", "min", value),
  maxProperties: (constraints, value: number) => countNegation(constraints, "object", "max", value),
  pattern: (constraints, value: string, { path }) => {
    const texts = only(constraints, "string");
    const make = () => complementLanguage(patternLanguage(value));
    return some(
      texts && withString(texts, { languages: [{ key: `not pattern ${value}`, path: `${path}.pattern`, make }] }),
    );
  },
  format: () => UNKNOWN,
  uniqueItems: () => UNKNOWN,
  contains: (constraints, _value: unknown, subschema, document) => {
    const rest = negated(document.child(subschema, "contains"));
    const arrays = only(constraints, "array");
    const { minContains, maxContains } = subschema.schema as Keywords;
    if (minContains !== undefined || maxContains !== undefined) return UNKNOWN;
    return some(arrays && withArray(arrays, { groups: [{ prefix: [], rest }] }));
  },
  prefixItems: (constraints, value: unknown[], subschema, document) =>
    itemNegations(
      constraints,
      value.map((_, index) => document.child(subschema, "prefixItems", index)),
    ),
  items: (constraints, value: unknown, subschema, document) => {
    if (Array.isArray(value)) {
      return itemNegations(
        constraints,
        value.map((_, index) => document.child(subschema, "items", index)),
      );
    }
    const { prefixItems } = subschema.schema as Keywords;
    const before = Array.isArray(prefixItems) ? prefixItems.length : 0;
    const leading = Array.from({ length: before }, () => trueSchema(subschema.path));
    // Any item may violate it. The first one is enough to have such values.
    return { ...itemNegation(constraints, [...leading, document.child(subschema, "items")]), isComplete: false };
  },
  additionalItems: () => UNKNOWN,
  required: (constraints, value: string[], { path }) => {
    const objects = only(constraints, "object");
    return some(...value.map((name) => objects && withoutProperty(objects, name, path)));
  },
  properties: (constraints, value: object, subschema, document) => {
    const objects = only(constraints, "object");
    return some(
      ...Object.keys(value).map((name) => {
        const properties = new Map([[name, negated(document.child(subschema, "properties", name))]]);
        return objects && withObject(objects, { required: [name], groups: [condition(properties)] });
      }),
    );
  },
  patternProperties: () => UNKNOWN,
  additionalProperties: (_constraints, value: unknown) => (value === true ? {} : UNKNOWN),
  unevaluatedProperties: (_constraints, value: unknown) => (value === true ? {} : UNKNOWN),
  unevaluatedItems: (_constraints, value: unknown) => (value === true ? {} : UNKNOWN),
  propertyNames: () => UNKNOWN,
  dependentRequired: () => UNKNOWN,
  dependentSchemas: () => UNKNOWN,
  dependencies: () => UNKNOWN,
  $dynamicRef: () => UNKNOWN,
  $recursiveRef: () => UNKNOWN,
};

/** The values of `constraints` that violate a keyword of the subschema, combinators and conditions apart. */
export function violateKeywords(
  constraints: ValueConstraints,
  subschema: SubschemaRef,
  document: SchemaDocument,
): Violations {
  const violations: Violations = { alternatives: [], isComplete: true };
  for (const [name, value] of Object.entries(subschema.schema as Keywords)) {
    const negation = Object.hasOwn(NEGATIONS, name) ? NEGATIONS[name] : undefined;
    const { alternatives = [], isComplete = true } = negation?.(constraints, value as never, subschema, document) ?? {};
    violations.alternatives.push(...alternatives);
    violations.isComplete &&= isComplete;
  }
  return violations;
}

/** The objects without this property. */
export function withoutProperty(
  constraints: ValueConstraints,
  name: string,
  path: string,
): ValueConstraints | undefined {
  return withObject(constraints, { groups: [condition(new Map([[name, falseSchema(path)]]))] });
}

/** The subschema `{ "not": … }`, at a pointer that no document has. */
function negated({ pointer, path, schema }: SubschemaRef): SubschemaRef {
  return { pointer: `${pointer}/!`, path, schema: { not: schema } };
}

const falseSchema = (path: string): SubschemaRef => ({ pointer: "!false", path, schema: false });
const trueSchema = (path: string): SubschemaRef => ({ pointer: "!true", path, schema: true });

function condition(properties: PropertyGroup["properties"]): PropertyGroup {
  return { properties, patterns: new Map(), additional: undefined, isCondition: true };
}

function numberNegation(bounds: (value: number) => Partial<ValueConstraints["number"]>): Negation {
  return (constraints, value: number) => {
    const numbers = only(constraints, "number");
    return some(numbers && withNumber(numbers, bounds(value)));
  };
}

function countNegation(
  constraints: ValueConstraints,
  type: "string" | "array" | "object",
  which: "min" | "max",
  value: number,
): Partial<Violations> {
  const matching = only(constraints, type);
  if (matching === undefined || (which === "min" && value === 0)) return {};
  const bounds = which === "min" ? { max: value - 1 } : { min: value + 1 };
  const add = { string: withString, array: withArray, object: withObject }[type];
  return some(add(matching, bounds));
}

function itemNegations(constraints: ValueConstraints, items: readonly SubschemaRef[]): Partial<Violations> {
  const each = items.map((_, index) => itemNegation(constraints, items.slice(0, index + 1)));
  return { alternatives: each.flatMap(({ alternatives = [] }) => alternatives) };
}

/** The arrays whose last item of `items` is there and violates its schema. */
function itemNegation(constraints: ValueConstraints, items: readonly SubschemaRef[]): Partial<Violations> {
  const arrays = only(constraints, "array");
  const last = items.at(-1);
  if (arrays === undefined || last === undefined) return {};
  const leading = items.slice(0, -1).map(({ path }) => trueSchema(path));
  return some(
    withArray(arrays, { min: items.length, groups: [{ prefix: [...leading, negated(last)], rest: undefined }] }),
  );
}

function withoutLiterals(
  constraints: ValueConstraints,
  literals: readonly unknown[],
  path: string,
): Partial<Violations> {
  const excluded = new Set(literals.map(literalKey));
  if (constraints.literals !== undefined) {
    const remaining = constraints.literals.filter((value) => !excluded.has(literalKey(value)));
    return some(remaining.length === 0 ? undefined : withLiterals(constraints, remaining));
  }
  const present = new Set(literals.map(typeOf));
  const texts = literals.filter((value) => typeof value === "string");
  const numbers = literals.filter((value) => typeof value === "number").sort((a, b) => a - b);
  const others = withTypes(
    constraints,
    JSON_TYPES.filter((type) => type === "string" || !present.has(type)),
  );
  const make = () => complementOf(texts);
  const languages = texts.length === 0 ? [] : [{ key: `not ${JSON.stringify(texts)}`, path, make }];
  const isComplete =
    !present.has("array") &&
    !present.has("object") &&
    !(constraints.types.has("number") && numbers.length > EXCLUDED_NUMBERS);
  const ranges = numbers.length === 0 || numbers.length > EXCLUDED_NUMBERS ? [] : [...numbers.keys(), numbers.length];
  const flags = [true, false].filter((value) => !literals.includes(value));
  return {
    ...some(
      others && withString(others, { languages }),
      present.has("boolean") && flags.length > 0 && constraints.types.has("boolean")
        ? withLiterals(constraints, flags)
        : undefined,
      ...ranges.map((index) => between(constraints, numbers[index - 1], numbers[index])),
    ),
    isComplete,
  };
}

function between(
  constraints: ValueConstraints,
  low: number | undefined,
  high: number | undefined,
): ValueConstraints | undefined {
  const numbers = only(constraints, "number");
  const bound = (value: number | undefined) => (value === undefined ? undefined : { value, exclusive: true });
  return numbers && withNumber(numbers, { minimum: bound(low), maximum: bound(high) });
}
