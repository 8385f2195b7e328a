/** What a value at one place has to be: everything that all schemas say of it, brought together exactly. */

import type { DFA } from "refa";
import type { Bound } from "./number-language.ts";
import type { Place } from "./schema-document.ts";

export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

const JSON_TYPES: readonly JsonType[] = ["null", "boolean", "number", "string", "array", "object"];

export interface Shape {
  types: ReadonlySet<JsonType>;
  /** Where the value has to be one of these, of which some may violate the rest. */
  literals: readonly unknown[] | undefined;
  number: { integer: boolean; minimum: Bound | undefined; maximum: Bound | undefined; multipleOf: number };
  text: { min: number; max: number | undefined; languages: readonly Language[] };
  array: { min: number; max: number | undefined; groups: readonly ItemGroup[] };
  object: {
    required: readonly string[];
    min: number;
    max: number | undefined;
    groups: readonly PropertyGroup[];
    names: readonly Place[];
  };
}

/**
 * A pattern or format. `make` is told how long texts may be, since for some there is a language that keeps to it by itself;
 * it throws PatternRefused.
 */
interface Language {
  key: string;
  /** Of the keyword, for errors. */
  path: string;
  make: (maxLength: number | undefined) => DFA;
  /** All texts that are valid, and perhaps more, where `make` leaves out some that are never written. */
  makeValid?: () => DFA;
}

/** One schema's `prefixItems` and `items`; `rest` undefined: anything. */
interface ItemGroup {
  prefix: readonly Place[];
  rest: Place | undefined;
}

/** One schema's `properties` and `additionalProperties`, which go together; `additional` undefined: anything. */
interface PropertyGroup {
  properties: ReadonlyMap<string, Place>;
  additional: Place | undefined;
}

export const ANY_VALUE: Shape = {
  types: new Set(JSON_TYPES),
  literals: undefined,
  number: { integer: false, minimum: undefined, maximum: undefined, multipleOf: 1 },
  text: { min: 0, max: undefined, languages: [] },
  array: { min: 0, max: undefined, groups: [] },
  object: { required: [], min: 0, max: undefined, groups: [], names: [] },
};

export const ANY_OBJECT: Shape = { ...ANY_VALUE, types: new Set(["object"]) };

export const typeOf = (value: unknown): JsonType =>
  value === null ? "null" : Array.isArray(value) ? "array" : (typeof value as JsonType);

/** Undefined when no value can have both types. */
export function withTypes(shape: Shape, names: readonly string[]): Shape | undefined {
  const types = new Set(
    names.map((name) => (name === "integer" ? "number" : name) as JsonType).filter((type) => shape.types.has(type)),
  );
  const integer = shape.number.integer || (names.includes("integer") && !names.includes("number"));
  return types.size === 0 ? undefined : { ...shape, types, number: { ...shape.number, integer } };
}

export function withLiterals(shape: Shape, literals: readonly unknown[]): Shape | undefined {
  const before = shape.literals && new Set(shape.literals.map(literalKey));
  const kept = literals.filter(
    (value) => shape.types.has(typeOf(value)) && (before === undefined || before.has(literalKey(value))),
  );
  return kept.length === 0 ? undefined : { ...shape, literals: kept, types: new Set(kept.map(typeOf)) };
}

export function withNumber(shape: Shape, bounds: Partial<Shape["number"]>): Shape | undefined {
  const number = {
    integer: shape.number.integer || bounds.integer === true,
    minimum: tighter(shape.number.minimum, bounds.minimum, 1),
    maximum: tighter(shape.number.maximum, bounds.maximum, -1),
    multipleOf: leastCommonMultiple(shape.number.multipleOf, bounds.multipleOf ?? 1),
  };
  const { minimum, maximum } = number;
  const empty =
    minimum &&
    maximum &&
    (minimum.value > maximum.value || (minimum.value === maximum.value && (minimum.exclusive || maximum.exclusive)));
  return empty ? without({ ...shape, number }, "number") : { ...shape, number };
}

export function withText(shape: Shape, bounds: Partial<Shape["text"]>): Shape | undefined {
  const text = {
    ...moreAndLess(shape.text, bounds),
    languages: [
      ...shape.text.languages,
      ...(bounds.languages ?? []).filter(({ key }) => shape.text.languages.every((other) => other.key !== key)),
    ],
  };
  return text.min > (text.max ?? Infinity) ? without({ ...shape, text }, "string") : { ...shape, text };
}

export function withArray(shape: Shape, bounds: Partial<Shape["array"]>): Shape | undefined {
  const array = {
    ...moreAndLess(shape.array, bounds),
    groups: [...shape.array.groups, ...(bounds.groups ?? [])],
  };
  return array.min > (array.max ?? Infinity) ? without({ ...shape, array }, "array") : { ...shape, array };
}

export function withObject(shape: Shape, bounds: Partial<Shape["object"]>): Shape | undefined {
  const object = {
    ...moreAndLess(shape.object, bounds),
    required: [...new Set([...shape.object.required, ...(bounds.required ?? [])])],
    groups: [...shape.object.groups, ...(bounds.groups ?? [])],
    names: [...shape.object.names, ...(bounds.names ?? [])],
  };
  const least = Math.max(object.min, object.required.length);
  return least > (object.max ?? Infinity) ? without({ ...shape, object }, "object") : { ...shape, object };
}

/** The same for values that are equal as JSON has it. */
export function literalKey(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? { entries: Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : inner,
  );
}

/** Undefined when it could only have been of that type. */
function without(shape: Shape, type: JsonType): Shape | undefined {
  const types = new Set([...shape.types].filter((other) => other !== type));
  const literals = shape.literals?.filter((value) => typeOf(value) !== type);
  return types.size === 0 || literals?.length === 0 ? undefined : { ...shape, types, literals };
}

/** Everything that one of an array's items has to satisfy. */
export function itemPlaces(shape: Shape, index: number): Place[] {
  return shape.array.groups.flatMap(({ prefix, rest }) => prefix[index] ?? rest ?? []);
}

/** Everything that the property of this name has to satisfy; undefined: one that no schema names. */
export function propertyPlaces(shape: Shape, name: string | undefined): Place[] {
  return shape.object.groups.flatMap(
    ({ properties, additional }) => (name === undefined ? undefined : properties.get(name)) ?? additional ?? [],
  );
}

/** In the order in which they stand in the schema; required ones that it does not describe come last. */
export function propertyNames(shape: Shape): string[] {
  return [
    ...new Set([...shape.object.groups.flatMap(({ properties }) => [...properties.keys()]), ...shape.object.required]),
  ];
}

/** The same for shapes that say the same in the same words. */
export function shapeKey({ types, literals, number, text, array, object }: Shape): string {
  const pointer = (place: Place | undefined) => place?.pointer;
  return JSON.stringify([
    [...types],
    literals,
    number,
    [text.min, text.max, text.languages.map(({ key }) => key)],
    [array.min, array.max, array.groups.map(({ prefix, rest }) => [prefix.map(pointer), pointer(rest)])],
    [object.required, object.min, object.max, object.names.map(pointer)],
    object.groups.map(({ properties, additional }) => [
      [...properties].map(([name, place]) => [name, place.pointer]),
      pointer(additional),
    ]),
  ]);
}

interface Count {
  min: number;
  max: number | undefined;
}

function moreAndLess(before: Count, { min, max }: Partial<Count>): Count {
  return {
    min: Math.max(before.min, min ?? 0),
    max: before.max === undefined || max === undefined ? (before.max ?? max) : Math.min(before.max, max),
  };
}

function tighter(before: Bound | undefined, next: Bound | undefined, direction: 1 | -1): Bound | undefined {
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
