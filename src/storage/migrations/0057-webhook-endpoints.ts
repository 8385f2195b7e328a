import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const webhookEndpoints: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("webhook_endpoints")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("url", "text", (column) => column.notNull())
      .addColumn("events", "text", (column) => column.notNull())
      .addColumn("secret", "bytea", (column) => column.notNull())
      .addColumn("secret_hint", "text", (column) => column.notNull())
      .addColumn("former_secret", "bytea")
      .addColumn("former_secret_until", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("webhook_endpoints_by_project")
      .on("webhook_endpoints")
      .columns(["project_id", "created_at"])
      .execute();
  },
};
