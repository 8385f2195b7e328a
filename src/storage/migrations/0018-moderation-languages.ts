import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const moderationLanguages: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // SQLite adds one column at a time.
    await db.schema.alterTable("moderation_policies").addColumn("unsupported_language", "text").execute();
    await db.schema.alterTable("moderation_policies").addColumn("unsupported_language_model", "text").execute();
  },
};
