import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** What revokes the tokens of grants at MCP servers, also after their rows were deleted with their owners. */
export const mcpRevocations: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("mcp_revocations")
      .addColumn("grant_id", "text", (column) => column.primaryKey())
      .addColumn("content", "bytea", (column) => column.notNull())
      .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("next_attempt_at", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable("mcp_grants").addColumn("unused_since", "bigint").execute();
  },
};
