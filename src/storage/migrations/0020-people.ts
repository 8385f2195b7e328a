import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Users, invites, groups, roles, and keys that belong to a user. */
export const people: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("users")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("email", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("added_at", "bigint", (column) => column.notNull())
      .addColumn("disabled_at", "bigint")
      .addColumn("last_active_at", "bigint")
      .addColumn("is_scim_managed", "integer", (column) => column.notNull())
      .addUniqueConstraint("users_email", ["organization_id", "email"])
      .execute();
    await index(db, "users", ["organization_id", "added_at", "id"]);

    await db.schema
      .createTable("groups")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("name_key", "text", (column) => column.notNull())
      .addColumn("is_scim_managed", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("groups_name", ["organization_id", "name_key"])
      .execute();

    await db.schema
      .createTable("group_members")
      .addColumn("group_id", "text", (column) => column.notNull().references("groups.id").onDelete("cascade"))
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
      .addColumn("source", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("group_members_key", ["group_id", "user_id", "source"])
      .execute();
    await index(db, "group_members", ["user_id"]);

    await db.schema
      .createTable("project_users")
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
      .addColumn("role_id", "text", (column) => column.notNull())
      .addColumn("added_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("project_users_key", ["project_id", "user_id"])
      .execute();
    await index(db, "project_users", ["user_id"]);

    await db.schema
      .createTable("project_groups")
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("group_id", "text", (column) => column.notNull().references("groups.id").onDelete("cascade"))
      .addColumn("role_id", "text", (column) => column.notNull())
      .addColumn("added_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("project_groups_key", ["project_id", "group_id"])
      .execute();
    await index(db, "project_groups", ["group_id"]);

    await db.schema
      .createTable("roles")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      // The organization or project in which it can be assigned.
      .addColumn("scope_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("name_key", "text", (column) => column.notNull())
      .addColumn("description", "text")
      .addColumn("permissions", "text", (column) => column.notNull())
      .addColumn("created_by", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("roles_name", ["scope_id", "name_key"])
      .execute();

    await db.schema
      .createTable("role_assignments")
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("scope_id", "text", (column) => column.notNull())
      .addColumn("principal_id", "text", (column) => column.notNull())
      .addColumn("role_id", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("role_assignments_key", ["scope_id", "principal_id", "role_id"])
      .execute();
    await index(db, "role_assignments", ["principal_id"]);
    await index(db, "role_assignments", ["role_id"]);

    await db.schema
      .createTable("invites")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("email", "text", (column) => column.notNull())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("projects", "text", (column) => column.notNull())
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("invited_by", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("accepted_at", "bigint")
      .addColumn("user_id", "text")
      .execute();
    await index(db, "invites", ["organization_id", "created_at", "id"]);
    await index(db, "invites", ["email"]);

    await db.schema.alterTable("api_keys").addColumn("user_id", "text").execute();
    await index(db, "api_keys", ["user_id"]);
    await db.schema.alterTable("audit_logs").addColumn("actor_user_id", "text").execute();
  },
};

async function index(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_by_${columns[0]}`).on(table).columns(columns).execute();
}
