import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const replicaCount: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("replica_count")
      .addColumn("singleton", "integer", (column) => column.primaryKey())
      .addColumn("replicas", "integer", (column) => column.notNull())
      .execute();
  },
};
