import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Grants of users and projects at MCP servers. */
export const mcpGrants: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("mcp_grants")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.references("users.id").onDelete("cascade"))
      .addColumn("project_id", "text", (column) => column.references("projects.id").onDelete("cascade"))
      .addColumn("server", "text", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .addColumn("url", "text")
      .addColumn("issuer", "text")
      .addColumn("scopes", "text")
      .addColumn("missing_scopes", "text")
      .addColumn("tokens", "bytea")
      .addColumn("token_expires_at", "bigint")
      .addColumn("connected_at", "bigint")
      .addColumn("request", "bytea")
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("refreshing_until", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("mcp_grants_user", ["user_id", "server"])
      .addUniqueConstraint("mcp_grants_project", ["project_id", "server"])
      .execute();
  },
};
