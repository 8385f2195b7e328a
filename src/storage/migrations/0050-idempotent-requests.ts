import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const idempotentRequests: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("idempotent_requests")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("body_hash", "text", (column) => column.notNull())
      .addColumn("status", "integer")
      .addColumn("answer", "bytea")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("idempotent_requests_by_key")
      .on("idempotent_requests")
      .columns(["key_id", "expires_at"])
      .execute();
  },
};
