/** Queries and bodies of lists in the administration API. */

import { z } from "zod";

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;

/** Schema of a number in a query, where values are strings. */
export function queryNumber<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    schema,
  );
}

export function queryBoolean() {
  const words = new Map([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ]);
  return z.preprocess((value) => (typeof value === "string" ? (words.get(value) ?? value) : value), z.boolean());
}

/** Pagination parameters of every list. */
export const PAGE_QUERY = {
  after: z.string().min(1).optional(),
  limit: queryNumber(z.int().min(1).max(MAX_LIMIT)).default(DEFAULT_LIMIT),
};

export const ORDER_QUERY = { order: z.enum(["asc", "desc"]).default("asc") };

export interface ListBody<Entry> {
  object: "list";
  data: Entry[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export function toListBody<Entry, Shown extends { id: string }>(
  page: { entries: readonly Entry[]; hasMore: boolean },
  toShown: (entry: Entry) => Shown,
): ListBody<Shown> {
  const data = page.entries.map(toShown);
  const [first] = data;
  return {
    object: "list",
    data,
    first_id: first?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: page.hasMore,
  };
}

/** Converts epoch milliseconds to Unix seconds. */
export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

export function toSecondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : toSeconds(milliseconds);
}

/** Confirms a deletion. */
export function toDeleted<Name extends string>(name: Name, id: string) {
  return { id, object: `${name}.deleted` as const, deleted: true };
}
