import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** When the provider issued the ID token of a session: a logout token ends no session that began after it. */
export const sessionIssueTimes: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("user_sessions").addColumn("issued_at", "bigint").execute();
  },
};
