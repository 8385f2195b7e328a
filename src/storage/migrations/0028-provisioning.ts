import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Names by which SCIM clients find users, permissions of restricted admin keys, and rules for keys of users. */
export const provisioning: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("users").addColumn("scim_user_name", "text").execute();
    await db.schema
      .createIndex("users_scim_user_name")
      .on("users")
      .columns(["organization_id", "scim_user_name"])
      .execute();
    await db.schema.alterTable("api_keys").addColumn("permissions", "text").execute();
    await db.schema.alterTable("projects").addColumn("key_rules", "text").execute();
  },
};
