import type { z } from "zod";

/** Maximum number of cached schemas. Clients send few combinations; others are validated against all fields. */
const MAX_KEPT = 64;

/**
 * Builds and caches, using `complete`, a schema of the `fields` that a value has and the required ones. Zod spends some
 * 300 bytes on each absent optional field, and a chat request has two or three of thirty.
 */
export function sparseSchema<Fields extends Record<string, z.ZodType>, Schema extends z.ZodType>(
  fields: Fields,
  required: readonly (keyof Fields)[],
  complete: (fields: Fields) => Schema,
): (value: unknown) => Schema {
  const all = complete(fields);
  const schemas = new Map<number, Schema>();
  // Sums of distinct powers of two are unique, and exact below 2^53.
  if (Object.keys(fields).length > 53) throw new Error("More fields than a number has bits");
  const powers = new Map(Object.keys(fields).map((name, index) => [name, 2 ** index]));
  return (value) => {
    if (typeof value !== "object" || value === null) return all;
    let names = 0;
    for (const name of Object.keys(value)) names += powers.get(name) ?? 0;
    const cached = schemas.get(names);
    if (cached !== undefined) return cached;
    if (schemas.size >= MAX_KEPT) return all;
    const present = Object.entries(fields).filter(([name]) => required.includes(name) || Object.hasOwn(value, name));
    // A field left out would be undefined, which its type allows.
    const schema = complete(Object.fromEntries(present) as Fields);
    schemas.set(names, schema);
    return schema;
  };
}
