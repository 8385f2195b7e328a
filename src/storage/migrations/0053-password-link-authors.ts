import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Authors of password links, with whom these end. */
export const passwordLinkAuthors: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("password_links").addColumn("created_by", "text").execute();
    await db.schema.alterTable("password_links").addColumn("created_by_key", "text").execute();
  },
};
