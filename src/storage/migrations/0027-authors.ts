import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

const TABLES = ["files", "stored_responses", "conversations"];

/** Keys that stored content, so that an erasure finds what a user stored. */
export const authors: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of TABLES) {
      await db.schema.alterTable(table).addColumn("created_by", "text").execute();
      await db.schema.createIndex(`${table}_created_by`).on(table).column("created_by").execute();
    }
  },
};
