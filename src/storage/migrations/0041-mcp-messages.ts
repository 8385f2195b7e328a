import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const mcpMessages: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("mcp_messages")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("content", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("mcp_messages_by_project").on("mcp_messages").column("project_id").execute();
  },
};
