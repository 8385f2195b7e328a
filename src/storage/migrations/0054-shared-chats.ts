import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Folders and pins of saved chats, and copies of them that their person shares in the project. */
export const sharedChats: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("saved_chats").addColumn("folder", "bytea").execute();
    await db.schema
      .alterTable("saved_chats")
      .addColumn("is_pinned", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable("saved_chats").addColumn("shared_of", "text").execute();
    await db.schema.createIndex("saved_chats_by_share").on("saved_chats").columns(["project_id", "id"]).execute();
  },
};
