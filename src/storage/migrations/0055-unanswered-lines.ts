import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Lines of a batch that were not answered before its end; 0 for batches that ended before. */
export const unansweredLines: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const table = db.schema.alterTable("batches");
    await table.addColumn("unanswered", "bigint", (definition) => definition.notNull().defaultTo(0)).execute();
  },
};
