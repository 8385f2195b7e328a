import type { z } from "zod";

/** Schema of an optional field: clients send null for "not set". */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}
