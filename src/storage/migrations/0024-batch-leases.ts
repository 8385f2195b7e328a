import { type Kysely, sql } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Replicas of earlier versions, which share batches through pg-boss, leave 0: a run of this version takes over. */
export const batchLeases: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("batches")
      .addColumn("due_at", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createIndex("batches_unfinished")
      .on("batches")
      .column("due_at")
      .where(sql.ref("ended_at"), "is", null)
      .execute();
  },
};
