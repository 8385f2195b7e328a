import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const modelFirstSeen: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("model_sightings")
      .addColumn("model_id", "text", (column) => column.primaryKey())
      .addColumn("first_seen_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
