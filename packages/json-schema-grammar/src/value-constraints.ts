/** The constraints on one value: the exact intersection of everything that its schemas require. */

import type { DFA } from "refa";
import type { Bound } from "./number-language.ts";
import type { SubschemaRef } from "./schema-document.ts";

export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

export const JSON_TYPES: readonly JsonType[] = ["null", "boolean", "number", "string", "array", "object"];

export interface ValueConstraints {
  types: ReadonlySet<JsonType>;
  /** Values of `enum` or `const`, some of which may violate the other constraints. */
  literals: readonly unknown[] | undefined;
  number: { integer: boolean; minimum: Bound | undefined; maximum: Bound | undefined; multipleOf: number };
  string: { min: number; max: number | undefined; languages: readonly Language[] };
  array: {
    min: number;
    max: number | undefined;
    groups: readonly ItemGroup[];
    /** Paths of `uniqueItems`. */
    unique: readonly string[];
    /** Subschemas of `contains`, each of which at least one item matches. */
    contains: readonly SubschemaRef[];
  };
  object: {
    required: readonly string[];
    min: number;
    max: number | undefined;
    groups: readonly PropertyGroup[];
    names: readonly SubschemaRef[];
  };
}

/**
 * A pattern or format. `make` receives the maximum length, because some formats have a variant that stays within it. Throws
 * UnsupportedPattern.
 */
export interface Language {
  key: string;
  /** Location of the keyword, for errors. */
  path: string;
  make: (maxLength: number | undefined) => DFA;
  /** A superset of all valid strings, where `make` leaves out some that are never generated. */
  makeValid?: () => DFA;
}

/** `prefixItems` and `items` of one schema. `rest` undefined: any item. */
interface ItemGroup {
  prefix: readonly SubschemaRef[];
  rest: SubschemaRef | undefined;
}

/** `properties`, `patternProperties` and `additionalProperties` of one schema. `additional` undefined: any property. */
export interface PropertyGroup {
  properties: ReadonlyMap<string, SubschemaRef>;
  /** Pattern of names → their subschema. */
  patterns: ReadonlyMap<string, SubschemaRef>;
  additional: SubschemaRef | undefined;
  /** True for a condition, such as `if`, whose properties do not list those of the object. */
  isCondition?: boolean;
}

/** A property's name; or for one that no schema names, the patterns that its name matches. */
export type PropertyKey = string | ReadonlySet<string>;

export const ANY_VALUE: ValueConstraints = {
  types: new Set(JSON_TYPES),
  literals: undefined,
  number: { integer: false, minimum: undefined, maximum: undefined, multipleOf: 1 },
  string: { min: 0, max: undefined, languages: [] },
  array: { min: 0, max: undefined, groups: [], unique: [], contains: [] },
  object: { required: [], min: 0, max: undefined, groups: [], names: [] },
};

export const ANY_OBJECT: ValueConstraints = { ...ANY_VALUE, types: new Set(["object"]) };

export const typeOf = (value: unknown): JsonType =>
  value === null ? "null" : Array.isArray(value) ? "array" : (typeof value as JsonType);

/** Returns undefined when no type is left. */
export function withTypes(constraints: ValueConstraints, names: readonly string[]): ValueConstraints | undefined {
  const types = new Set(
    names
      .map((name) => (name === "integer" ? "number" : name) as JsonType)
      .filter((type) => constraints.types.has(type)),
  );
  const integer = constraints.number.integer || (names.includes("integer") && !names.includes("number"));
  return types.size === 0 ? undefined : { ...constraints, types, number: { ...constraints.number, integer } };
}

/** Intersects with the values of `enum` or `const`. Returns undefined when no value is left. */
export function withLiterals(
  constraints: ValueConstraints,
  literals: readonly unknown[],
): ValueConstraints | undefined {
  const before = constraints.literals && new Set(constraints.literals.map(literalKey));
  const allowed = literals.filter(
    (value) => constraints.types.has(typeOf(value)) && (before === undefined || before.has(literalKey(value))),
  );
  return allowed.length === 0 ? undefined : { ...constraints, literals: allowed, types: new Set(allowed.map(typeOf)) };
}

/** Intersects with bounds of numbers. Returns undefined when no type is left. */
export function withNumber(
  constraints: ValueConstraints,
  bounds: Partial<ValueConstraints["number"]>,
): ValueConstraints | undefined {
  const number = {
    integer: constraints.number.integer || bounds.integer === true,
    minimum: tighterBound(constraints.number.minimum, bounds.minimum, 1),
    maximum: tighterBound(constraints.number.maximum, bounds.maximum, -1),
    multipleOf: leastCommonMultiple(constraints.number.multipleOf, bounds.multipleOf ?? 1),
  };
  const { minimum, maximum } = number;
  const empty =
    minimum &&
    maximum &&
    (minimum.value > maximum.value || (minimum.value === maximum.value && (minimum.exclusive || maximum.exclusive)));
  return empty ? excludeType({ ...constraints, number }, "number") : { ...constraints, number };
}

/** Intersects with lengths and patterns of strings. Returns undefined when no type is left. */
export function withString(
  constraints: ValueConstraints,
  bounds: Partial<ValueConstraints["string"]>,
): ValueConstraints | undefined {
  const string = {
    ...intersectCounts(constraints.string, bounds),
    languages: [
      ...constraints.string.languages,
      ...(bounds.languages ?? []).filter(({ key }) => constraints.string.languages.every((other) => other.key !== key)),
    ],
  };
  return string.min > (string.max ?? Infinity)
    ? excludeType({ ...constraints, string }, "string")
    : { ...constraints, string };
}

/** Intersects with bounds and items of arrays. Returns undefined when no type is left. */
export function withArray(
  constraints: ValueConstraints,
  bounds: Partial<ValueConstraints["array"]>,
): ValueConstraints | undefined {
  const array = {
    ...intersectCounts(constraints.array, bounds),
    groups: [...constraints.array.groups, ...(bounds.groups ?? [])],
    unique: [...new Set([...constraints.array.unique, ...(bounds.unique ?? [])])],
    contains: [...constraints.array.contains, ...(bounds.contains ?? [])],
  };
  return array.min > (array.max ?? Infinity)
    ? excludeType({ ...constraints, array }, "array")
    : { ...constraints, array };
}

/** Intersects with bounds and properties of objects. Returns undefined when no type is left. */
export function withObject(
  constraints: ValueConstraints,
  bounds: Partial<ValueConstraints["object"]>,
): ValueConstraints | undefined {
  const object = {
    ...intersectCounts(constraints.object, bounds),
    required: [...new Set([...constraints.object.required, ...(bounds.required ?? [])])],
    groups: [...constraints.object.groups, ...(bounds.groups ?? [])],
    names: [...constraints.object.names, ...(bounds.names ?? [])],
  };
  const least = Math.max(object.min, object.required.length);
  return least > (object.max ?? Infinity)
    ? excludeType({ ...constraints, object }, "object")
    : { ...constraints, object };
}

/** Canonical key: equal for values that are equal in JSON. */
export function literalKey(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? { entries: Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : inner,
  );
}

/** Removes a type. Returns undefined when no other is left. */
function excludeType(constraints: ValueConstraints, type: JsonType): ValueConstraints | undefined {
  const types = new Set([...constraints.types].filter((other) => other !== type));
  const literals = constraints.literals?.filter((value) => typeOf(value) !== type);
  return types.size === 0 || literals?.length === 0 ? undefined : { ...constraints, types, literals };
}

/** The subschemas that apply to an item. */
export function itemSubschemas(constraints: ValueConstraints, index: number): SubschemaRef[] {
  return constraints.array.groups.flatMap(({ prefix, rest }) => prefix[index] ?? rest ?? []);
}

/** The subschemas that apply to a property. `matches` tests a name against a pattern. */
export function propertySubschemas(
  constraints: ValueConstraints,
  key: PropertyKey,
  matches: (pattern: string, name: string) => boolean,
): SubschemaRef[] {
  return constraints.object.groups.flatMap(({ properties, patterns, additional }) => {
    const property = typeof key === "string" ? properties.get(key) : undefined;
    const matching = [...patterns].filter(([pattern]) =>
      typeof key === "string" ? matches(pattern, key) : key.has(pattern),
    );
    const applied = [...(property === undefined ? [] : [property]), ...matching.map(([, subschema]) => subschema)];
    return applied.length > 0 ? applied : (additional ?? []);
  });
}

/** Distinct patterns of property names. */
export function namePatterns(constraints: ValueConstraints): string[] {
  return [...new Set(constraints.object.groups.flatMap(({ patterns }) => [...patterns.keys()]))];
}

/**
 * Whether properties with this key may be written. A schema with `properties` or `patternProperties` and without
 * `additionalProperties` is treated as closed, since its author does not want a model to invent properties.
 */
export function isOpenTo(constraints: ValueConstraints, key: ReadonlySet<string>): boolean {
  const groups = constraints.object.groups.filter(({ isCondition }) => isCondition !== true);
  return (
    groups.length === 0 ||
    groups.some(
      ({ patterns, additional }) =>
        additional !== undefined || [...patterns.keys()].some((pattern) => key.has(pattern)),
    )
  );
}

/** Property names in the schema's order, followed by required names without a description. */
export function propertyNames(constraints: ValueConstraints): string[] {
  return [
    ...new Set([
      ...constraints.object.groups.flatMap(({ properties }) => [...properties.keys()]),
      ...constraints.object.required,
    ]),
  ];
}

/** Key that is equal for constraints with the same content. */
export function constraintsKey({ types, literals, number, string, array, object }: ValueConstraints): string {
  const pointer = (subschema: SubschemaRef | undefined) => subschema?.pointer;
  return JSON.stringify([
    [...types],
    literals,
    number,
    [string.min, string.max, string.languages.map(({ key }) => key)],
    [array.min, array.max, array.groups.map(({ prefix, rest }) => [prefix.map(pointer), pointer(rest)])],
    [array.unique.length > 0, array.contains.map(pointer)],
    [object.required, object.min, object.max, object.names.map(pointer)],
    object.groups.map(({ properties, patterns, additional, isCondition }) => [
      [...properties].map(([name, subschema]) => [name, subschema.pointer]),
      [...patterns].map(([pattern, subschema]) => [pattern, subschema.pointer]),
      pointer(additional),
      isCondition,
    ]),
  ]);
}

interface Count {
  min: number;
  max: number | undefined;
}

function intersectCounts(before: Count, { min, max }: Partial<Count>): Count {
  return {
    min: Math.max(before.min, min ?? 0),
    max: before.max === undefined || max === undefined ? (before.max ?? max) : Math.min(before.max, max),
  };
}

function tighterBound(before: Bound | undefined, next: Bound | undefined, direction: 1 | -1): Bound | undefined {
  if (!before || !next) {
    return before ?? next;
  }
  if (before.value === next.value) {
    return { value: before.value, exclusive: before.exclusive || next.exclusive };
  }
  return (next.value - before.value) * direction > 0 ? next : before;
}

function leastCommonMultiple(left: number, right: number): number {
  const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));
  return (left / greatestCommonDivisor(left, right)) * right;
}
