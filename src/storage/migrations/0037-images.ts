import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Adds generated images to usage, and their rate limit. */
export const images: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ["usage_rollups", "usage_label_rollups"]) {
      await db.schema
        .alterTable(table)
        .addColumn("images", "bigint", (column) => column.notNull().defaultTo(0))
        .execute();
    }
    await db.schema.alterTable("rate_limits").addColumn("images_per_minute", "integer").execute();
  },
};
