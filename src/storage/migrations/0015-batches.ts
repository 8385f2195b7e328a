import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const batches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("batches")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("endpoint", "text", (column) => column.notNull())
      .addColumn("input_file_id", "text", (column) => column.notNull())
      .addColumn("completion_window", "text", (column) => column.notNull())
      .addColumn("output_expires_after_seconds", "bigint")
      .addColumn("metadata", "text")
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("errors", "text")
      .addColumn("total", "bigint", (column) => column.notNull())
      .addColumn("completed", "bigint", (column) => column.notNull())
      .addColumn("failed", "bigint", (column) => column.notNull())
      .addColumn("output_file_id", "text")
      .addColumn("error_file_id", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("in_progress_at", "bigint")
      .addColumn("finalizing_at", "bigint")
      .addColumn("cancelling_at", "bigint")
      .addColumn("ended_at", "bigint")
      .addColumn("run_id", "text")
      .execute();
    await db.schema
      .createTable("batch_parts")
      .addColumn("batch_id", "text", (column) => column.notNull())
      .addColumn("position", "bigint", (column) => column.notNull())
      .addColumn("blob", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("batch_parts_key", ["batch_id", "position"])
      .execute();
    await db.schema.createIndex("batches_by_project_id").on("batches").columns(["project_id", "created_at"]).execute();
    await db.schema.createIndex("batches_by_status").on("batches").column("status").execute();
  },
};
