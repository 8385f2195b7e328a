import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const accounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("organizations")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("is_default", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("archived_at", "bigint")
      .execute();

    await db.schema
      .createTable("projects")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("is_default", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("archived_at", "bigint")
      .execute();
    await index(db, "projects", ["organization_id", "created_at", "id"]);

    await db.schema
      .createTable("service_accounts")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("deleted_at", "bigint")
      .execute();
    await index(db, "service_accounts", ["project_id", "created_at", "id"]);

    await db.schema
      .createTable("api_keys")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("project_id", "text", (column) => column.references("projects.id"))
      .addColumn("service_account_id", "text", (column) => column.references("service_accounts.id"))
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("key_hash", "text", (column) => column.notNull().unique())
      .addColumn("redacted_value", "text", (column) => column.notNull())
      .addColumn("is_fixed", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .addColumn("last_used_at", "bigint")
      .execute();
    await index(db, "api_keys", ["organization_id", "created_at", "id"]);
    await index(db, "api_keys", ["project_id", "created_at", "id"]);

    await db.schema
      .createTable("model_permissions")
      .addColumn("scope_id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("mode", "text", (column) => column.notNull())
      .addColumn("model_ids", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("audit_logs")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("effective_at", "bigint", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("actor_key_id", "text")
      .addColumn("ip_address", "text")
      .addColumn("user_agent", "text")
      .addColumn("project_id", "text")
      .addColumn("project_name", "text")
      .addColumn("resource_id", "text", (column) => column.notNull())
      .addColumn("details", "text", (column) => column.notNull())
      .execute();
    await index(db, "audit_logs", ["organization_id", "effective_at", "id"]);

    await db.schema
      .createTable("account_changes")
      .addColumn("id", "integer", (column) => column.primaryKey())
      .addColumn("version", "bigint", (column) => column.notNull())
      .execute();
    await (db as Kysely<{ account_changes: { id: number; version: number } }>)
      .insertInto("account_changes")
      .values({ id: 1, version: 1 })
      .execute();
  },
};

async function index(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_by_${columns[0]}`).on(table).columns(columns).execute();
}
