import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const mcpCalls: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("mcp_calls")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("server", "text", (column) => column.notNull())
      .addColumn("tool", "text", (column) => column.notNull())
      .addColumn("source", "text", (column) => column.notNull())
      .addColumn("outcome", "text", (column) => column.notNull())
      .addColumn("error", "text")
      .addColumn("duration_ms", "integer", (column) => column.notNull())
      .addColumn("result_bytes", "bigint")
      .addColumn("cost_nano_dollars", "bigint")
      .execute();
    await db.schema.createIndex("mcp_calls_by_time").on("mcp_calls").columns(["created_at", "id"]).execute();
    await db.schema
      .createIndex("mcp_calls_by_server")
      .on("mcp_calls")
      .columns(["organization_id", "server", "created_at", "id"])
      .execute();
    await db.schema.createIndex("mcp_calls_by_key").on("mcp_calls").column("key_id").execute();
  },
};
