import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Sums of the items of an eval's run that has ended, so that lists of runs do not read the items. */
export const evalTotals: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("eval_runs").addColumn("totals", "text").execute();
  },
};
