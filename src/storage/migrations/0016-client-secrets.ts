import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const clientSecrets: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("client_secrets")
      .addColumn("secret_hash", "text", (column) => column.primaryKey())
      .addColumn("key_id", "text", (column) => column.notNull().references("api_keys.id"))
      .addColumn("session", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("client_secrets_key").on("client_secrets").columns(["key_id", "created_at"]).execute();
  },
};
