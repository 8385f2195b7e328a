import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const spendLimits: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("spend_limits")
      .addColumn("scope_id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("threshold_cents", "bigint", (column) => column.notNull())
      .addColumn("is_enforcing", "integer", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
