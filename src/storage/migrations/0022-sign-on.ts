import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Identities of users at issuers, passwords, and sessions that belong to a user. */
export const signOn: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("external_identities")
      .addColumn("issuer", "text", (column) => column.notNull())
      .addColumn("subject", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_used_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("external_identities_key", ["issuer", "subject"])
      .execute();
    await db.schema.createIndex("external_identities_user").on("external_identities").column("user_id").execute();

    await db.schema
      .createTable("user_passwords")
      .addColumn("user_id", "text", (column) => column.primaryKey().references("users.id").onDelete("cascade"))
      .addColumn("hash", "text", (column) => column.notNull())
      .addColumn("changed_at", "bigint", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("password_links")
      .addColumn("token_hash", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("password_links_user").on("password_links").column("user_id").execute();

    await db.schema
      .createTable("user_sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
      .addColumn("admin_hash", "text", (column) => column.notNull().unique())
      .addColumn("project_hash", "text", (column) => column.notNull().unique())
      .addColumn("project_key_id", "text", (column) => column.references("api_keys.id"))
      .addColumn("provider_id", "text")
      .addColumn("issuer", "text")
      .addColumn("subject", "text")
      .addColumn("sid", "text")
      .addColumn("tokens", "bytea")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("checked_at", "bigint", (column) => column.notNull())
      .addColumn("renew_at", "bigint", (column) => column.notNull())
      .addColumn("valid_until", "bigint", (column) => column.notNull())
      .addColumn("renewing_until", "bigint")
      .execute();
    await db.schema.createIndex("user_sessions_user").on("user_sessions").columns(["user_id", "created_at"]).execute();
    await db.schema.createIndex("user_sessions_identity").on("user_sessions").columns(["issuer", "subject"]).execute();
    await db.schema.createIndex("user_sessions_sid").on("user_sessions").columns(["issuer", "sid"]).execute();
    await db.schema.createIndex("user_sessions_expiry").on("user_sessions").column("expires_at").execute();
  },
};
