import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const savedChats: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("saved_chats")
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("revision", "integer", (column) => column.notNull())
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addColumn("title", "bytea", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .addPrimaryKeyConstraint("saved_chats_key", ["user_id", "project_id", "id"])
      .execute();
    await db.schema.createIndex("saved_chats_by_update").on("saved_chats").column("updated_at").execute();
    await db.schema.createIndex("saved_chats_by_project").on("saved_chats").column("project_id").execute();
  },
};
