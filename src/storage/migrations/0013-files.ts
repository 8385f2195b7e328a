import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Metadata only: the bytes of files are on disk or in an object store. */
export const files: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("files")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("purpose", "text", (column) => column.notNull())
      .addColumn("filename", "text", (column) => column.notNull())
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("is_stored", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("files_by_project_id").on("files").columns(["project_id", "created_at"]).execute();
    await db.schema.createIndex("files_by_expires_at").on("files").column("expires_at").execute();
  },
};
