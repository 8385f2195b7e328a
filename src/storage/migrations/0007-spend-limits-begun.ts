import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const spendLimitsBegun: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("spend_limits")
      .addColumn("begun_at", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
