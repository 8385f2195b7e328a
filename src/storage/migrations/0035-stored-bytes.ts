import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Adds what vector stores store. */
export const storedBytes: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ["usage_rollups", "usage_label_rollups"]) {
      await db.schema
        .alterTable(table)
        .addColumn("stored_byte_hours", "bigint", (column) => column.notNull().defaultTo(0))
        .execute();
    }
  },
};
