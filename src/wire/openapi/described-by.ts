import type { z } from "zod";

/** Schemas in place of those that they describe. */
const descriptions = new WeakMap<z.ZodType, z.ZodType>();

/**
 * Describes, in the document, a schema that validates less than what clients may send or get: another function checks
 * the rest, or a client's value is repeated. The description is that of input.
 */
export function describedBy<Schema extends z.ZodType>(schema: Schema, description: z.ZodType): Schema {
  descriptions.set(schema, description);
  return schema;
}

export function descriptionOf(schema: z.ZodType): z.ZodType | undefined {
  return descriptions.get(schema);
}
