import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const requestDetails: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("request_history").addColumn("details", "text").execute();
  },
};
