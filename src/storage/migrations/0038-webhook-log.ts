import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const webhookLog: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("webhook_log")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("event_id", "text", (column) => column.notNull())
      .addColumn("endpoint", "text", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("payload", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("attempted_at", "bigint", (column) => column.notNull())
      .addColumn("duration_ms", "integer", (column) => column.notNull())
      .addColumn("status", "integer")
      .addColumn("answer", "text", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("webhook_log_by_time").on("webhook_log").columns(["created_at", "id"]).execute();
    await db.schema
      .createIndex("webhook_log_by_endpoint")
      .on("webhook_log")
      .columns(["endpoint", "created_at", "id"])
      .execute();
  },
};
