import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Where keys were last used from, and what SCIM clients call users and groups. */
export const keyUseAndProvisioning: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("api_keys").addColumn("last_used_address", "text").execute();
    await db.schema.alterTable("api_keys").addColumn("last_used_client", "text").execute();
    await db.schema.alterTable("users").addColumn("external_id", "text").execute();
    await db.schema.alterTable("users").addColumn("scim_attributes", "text").execute();
    await db.schema.alterTable("groups").addColumn("external_id", "text").execute();
  },
};
