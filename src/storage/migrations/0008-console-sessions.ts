import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const consoleSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("console_grants")
      .addColumn("token_hash", "text", (column) => column.primaryKey())
      .addColumn("session_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull().references("api_keys.id"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("console_grants_session").on("console_grants").columns(["session_id"]).execute();
  },
};
