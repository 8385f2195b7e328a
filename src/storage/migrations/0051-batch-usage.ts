import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Tokens of a batch's lines; 0 for lines that ran before. */
export const batchUsage: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ["prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"]) {
      await db.schema
        .alterTable("batches")
        .addColumn(column, "bigint", (definition) => definition.notNull().defaultTo(0))
        .execute();
    }
  },
};
