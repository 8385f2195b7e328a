import type { z } from "zod";

/** Clients write null where they mean "not set". */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}
