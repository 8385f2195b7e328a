import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** The line of keys that replace each other: limits count them as one. */
export const keyLines: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Null: the key replaced none.
    await db.schema.alterTable("api_keys").addColumn("root_key_id", "text").execute();
    await db.schema.createIndex("api_keys_root_key_id").on("api_keys").columns(["root_key_id"]).execute();
  },
};
