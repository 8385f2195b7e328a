import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** States for each later migration which processes keep working after it. */
export const schemaCompatibility: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("schema_compatibility")
      .addColumn("migration", "text", (column) => column.primaryKey())
      // Null: every process.
      .addColumn("oldest_compatible", "text")
      .execute();
  },
};
