/** Schemas of lists and deletions, which all resources share. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { memberOf, names, toComponentName } from "./named.ts";

/** A page of a list of named entries, with cursors. */
export function listOfEntries<Entry extends z.ZodType>(entry: Entry) {
  return memberOf(`${names.get(entry)?.id}List`, () =>
    lazy.object(() => ({
      object: z.literal("list"),
      data: z.array(entry),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    })),
  );
}

export function deleted(object: string) {
  return memberOf(deletionName(object), () =>
    lazy.object(() => ({ object: z.literal(object), id: z.string(), deleted: z.boolean() })),
  );
}

export function removed(object: string) {
  return memberOf(deletionName(object), () => lazy.object(() => ({ object: z.literal(object), deleted: z.boolean() })));
}

function deletionName(object: string): string {
  return `${toComponentName(object.replace(/\.deleted$/, ""))}Deleted`;
}
