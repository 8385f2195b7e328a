import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** What administrators configure through the API: entries, and their history. */
export const configuration: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("configuration_state")
      .addColumn("id", "integer", (column) => column.primaryKey())
      .addColumn("version", "bigint", (column) => column.notNull())
      .execute();
    await (db as Kysely<{ configuration_state: { id: number; version: number } }>)
      .insertInto("configuration_state")
      .values({ id: 1, version: 0 })
      .execute();

    await db.schema
      .createTable("configuration_entries")
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("value", "text", (column) => column.notNull())
      .addColumn("secrets", "bytea")
      .addColumn("position", "bigint", (column) => column.notNull())
      .addColumn("version", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("configuration_entries_key", ["kind", "name"])
      .execute();

    await db.schema
      .createTable("configuration_versions")
      .addColumn("version", "bigint", (column) => column.primaryKey())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("action", "text", (column) => column.notNull())
      .addColumn("actor_key_id", "text")
      .addColumn("actor_user_id", "text")
      .addColumn("reason", "text")
      .execute();

    await db.schema
      .createTable("configuration_changes")
      .addColumn("version", "bigint", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("position", "bigint", (column) => column.notNull())
      .addColumn("value_before", "text")
      .addColumn("secrets_before", "bytea")
      .addColumn("value_after", "text")
      .addColumn("secrets_after", "bytea")
      .addPrimaryKeyConstraint("configuration_changes_key", ["version", "kind", "name"])
      .execute();
  },
};
