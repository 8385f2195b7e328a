/** Attributes of files in vector stores, and filters over them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { parsedListOf } from "../../kernel/list-of.ts";
import { named } from "../openapi/named.ts";

const MAX_PAIRS = 16;
const MAX_FILTERS = 100;
const MAX_DEPTH = 8;
const MAX_VALUES = 1000;

type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

const value = z.union([z.string().max(512), z.number(), z.boolean()]);

/** Up to 16 values by name, which searches can filter by. */
export const AttributesBody = z
  .record(z.string().min(1).max(64), value)
  .refine((attributes) => Object.keys(attributes).length <= MAX_PAIRS, {
    error: `it may have at most ${MAX_PAIRS} pairs`,
  });

interface ComparisonFilter {
  type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
  key: string;
  value: AttributeValue | readonly AttributeValue[];
}

interface CompoundFilter {
  type: "and" | "or";
  filters: readonly AttributeFilter[];
}

export type AttributeFilter = ComparisonFilter | CompoundFilter;

const Comparison = lazy
  .strictObject(() => ({
    type: z.enum(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]),
    key: z.string().min(1).max(64),
    value: z.union([value, parsedListOf(value).max(MAX_VALUES)]),
  }))
  .refine((filter) => Array.isArray(filter.value) === ["in", "nin"].includes(filter.type), {
    error: "`in` and `nin` compare with a list, the other types with one value",
    path: ["value"],
  });

const Compound: z.ZodType<CompoundFilter> = named(
  "CompoundFilter",
  lazy.strictObject(() => ({
    type: z.enum(["and", "or"]),
    filters: parsedListOf(z.lazy(() => AnyFilter)).min(1),
  })),
);

const AnyFilter: z.ZodType<AttributeFilter> = z.union([Comparison, Compound]);

export const AttributeFilterBody: z.ZodType<AttributeFilter> = AnyFilter.refine(
  (filter) => countFilters(filter) <= MAX_FILTERS && depthOf(filter) <= MAX_DEPTH,
  { error: `it may have at most ${MAX_FILTERS} comparisons, at most ${MAX_DEPTH} levels deep` },
);

function countFilters(filter: AttributeFilter): number {
  if (!("filters" in filter)) return 1;
  return filter.filters.reduce((sum, each) => sum + countFilters(each), 1);
}

function depthOf(filter: AttributeFilter): number {
  return "filters" in filter ? 1 + Math.max(...filter.filters.map(depthOf)) : 1;
}

/** Whether attributes pass a filter. A missing attribute passes only `ne` and `nin`. */
export function passesFilter(attributes: Attributes, filter: AttributeFilter): boolean {
  if ("filters" in filter) {
    const passes = (each: AttributeFilter) => passesFilter(attributes, each);
    return filter.type === "and" ? filter.filters.every(passes) : filter.filters.some(passes);
  }
  const actual = Object.hasOwn(attributes, filter.key) ? attributes[filter.key] : undefined;
  return compare(actual, filter);
}

function compare(actual: AttributeValue | undefined, { type, value: expected }: ComparisonFilter): boolean {
  switch (type) {
    case "eq":
      return actual === expected;
    case "ne":
      return actual !== expected;
    case "in":
      return actual !== undefined && (expected as readonly AttributeValue[]).includes(actual);
    case "nin":
      return actual === undefined || !(expected as readonly AttributeValue[]).includes(actual);
    default:
      return isOrdered(type, actual, expected);
  }
}

/** Numbers and texts have an order; values of different types do not. */
function isOrdered(
  type: "gt" | "gte" | "lt" | "lte",
  actual: AttributeValue | undefined,
  expected: AttributeValue | readonly AttributeValue[],
): boolean {
  if (typeof actual !== typeof expected || typeof actual === "boolean" || actual === undefined) return false;
  const other = expected as string | number;
  if (type === "gt") return actual > other;
  if (type === "gte") return actual >= other;
  return type === "lt" ? actual < other : actual <= other;
}
