import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const storedPolicies: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("stored_policies")
      .addColumn("scope_id", "text", (column) => column.notNull())
      .addColumn("policy", "text", (column) => column.notNull())
      .addColumn("settings", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("stored_policies_key", ["scope_id", "policy"])
      .execute();
  },
};
