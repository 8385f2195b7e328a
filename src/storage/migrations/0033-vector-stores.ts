import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Vector stores with the content of their files, and uploads in parts. */
export const vectorStores: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("vector_stores")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("description", "text")
      .addColumn("metadata", "text")
      .addColumn("embedding_model", "text", (column) => column.notNull())
      .addColumn("dimensions", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_active_at", "bigint", (column) => column.notNull())
      .addColumn("expires_after_days", "bigint")
      .addColumn("expires_at", "bigint")
      .addColumn("version", "bigint", (column) => column.notNull())
      .addColumn("deleted_at", "bigint")
      .execute();
    const ofProject = db.schema.createIndex("vector_stores_by_project_id").on("vector_stores");
    await ofProject.columns(["project_id", "created_at"]).execute();
    await db.schema.createIndex("vector_stores_by_expires_at").on("vector_stores").column("expires_at").execute();
    await db.schema.createIndex("vector_stores_by_deleted_at").on("vector_stores").column("deleted_at").execute();
    await db.schema
      .createTable("vector_store_files")
      .addColumn("vector_store_id", "text", (column) => column.notNull().references("vector_stores.id"))
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("addition_id", "text", (column) => column.notNull())
      .addColumn("batch_id", "text")
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("filename", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("error_code", "text")
      .addColumn("error_message", "text")
      .addColumn("max_tokens", "bigint", (column) => column.notNull())
      .addColumn("overlap_tokens", "bigint", (column) => column.notNull())
      .addColumn("attributes", "text")
      .addColumn("usage_bytes", "bigint", (column) => column.notNull())
      .addColumn("chunks", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("attempts", "bigint", (column) => column.notNull())
      .addColumn("run_id", "text")
      .addColumn("due_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("vector_store_files_key", ["vector_store_id", "id"])
      .execute();
    const ofFiles = (name: string, columns: string[]) =>
      db.schema.createIndex(`vector_store_files_by_${name}`).on("vector_store_files").columns(columns).execute();
    await ofFiles("created_at", ["vector_store_id", "created_at"]);
    await ofFiles("file", ["id"]);
    await ofFiles("addition_id", ["addition_id"]);
    await ofFiles("batch_id", ["batch_id"]);
    await ofFiles("status", ["status", "due_at"]);
    await ofFiles("project_id", ["project_id"]);
    await db.schema
      .createTable("vector_store_batches")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("vector_store_id", "text", (column) => column.notNull().references("vector_stores.id"))
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("cancelled_at", "bigint")
      .execute();
    const ofStore = db.schema.createIndex("vector_store_batches_by_store").on("vector_store_batches");
    await ofStore.column("vector_store_id").execute();
    await db.schema
      .createTable("vector_store_segments")
      .addColumn("vector_store_id", "text", (column) => column.notNull())
      .addColumn("addition_id", "text", (column) => column.notNull())
      .addColumn("position", "bigint", (column) => column.notNull())
      .addColumn("chunks", "bigint", (column) => column.notNull())
      .addColumn("vectors", "bytea", (column) => column.notNull())
      .addColumn("texts", "bytea", (column) => column.notNull())
      .addPrimaryKeyConstraint("vector_store_segments_key", ["addition_id", "position"])
      .execute();
    const segments = db.schema.createIndex("vector_store_segments_by_store").on("vector_store_segments");
    await segments.column("vector_store_id").execute();
    await db.schema
      .createTable("uploads")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("filename", "text", (column) => column.notNull())
      .addColumn("purpose", "text", (column) => column.notNull())
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("file_expires_after_seconds", "bigint")
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("file_id", "text")
      .addColumn("created_by", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("uploads_by_project_id").on("uploads").column("project_id").execute();
    await db.schema.createIndex("uploads_by_expires_at").on("uploads").column("expires_at").execute();
    await db.schema
      .createTable("upload_parts")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("upload_id", "text", (column) => column.notNull().references("uploads.id"))
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("upload_parts_by_upload_id").on("upload_parts").column("upload_id").execute();
  },
};
