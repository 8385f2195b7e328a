import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";

/** Schema of all entries of a kind. */
export function listOf<Entry extends z.ZodType>(entry: Entry) {
  return lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(entry),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }));
}
