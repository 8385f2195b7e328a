import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Whether the input of a batch was written for it, rather than uploaded by a client. */
export const batchInputs: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const table = db.schema.alterTable("batches");
    await table.addColumn("owns_input", "integer", (definition) => definition.notNull().defaultTo(0)).execute();
  },
};
