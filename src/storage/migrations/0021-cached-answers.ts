import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const cachedAnswers: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("cached_answers")
      .addColumn("key", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("scope_id", "text", (column) => column.notNull())
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("catalog_id", "text", (column) => column.notNull())
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("stored_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .execute();
    const index = (column: string) =>
      db.schema.createIndex(`cached_answers_by_${column}`).on("cached_answers").column(column).execute();
    await index("stored_at");
    await index("expires_at");
    await index("scope_id");
  },
};
