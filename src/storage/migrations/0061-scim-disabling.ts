import { type Kysely, sql } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** When a SCIM client disabled a user. Of users who are disabled already, nothing says who did it. */
export const scimDisabling: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("users").addColumn("scim_disabled_at", "bigint").execute();
    await sql`
      update users set scim_disabled_at = disabled_at where is_scim_managed = 1 and disabled_at is not null
    `.execute(db);
  },
};
