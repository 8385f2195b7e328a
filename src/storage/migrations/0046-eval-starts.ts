import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** How often an eval's run was started and neither ended nor given back: the process that ran it died. */
export const evalStarts: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("eval_runs")
      .addColumn("starts", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
