import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const prompts: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("prompts")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("description", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("prompts_name", ["project_id", "name"])
      .execute();
    await db.schema.createIndex("prompts_by_project").on("prompts").columns(["project_id", "created_at"]).execute();
    await db.schema
      .createTable("prompt_versions")
      .addColumn("prompt_id", "text", (column) => column.notNull().references("prompts.id").onDelete("cascade"))
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("content", "text", (column) => column.notNull())
      .addColumn("note", "text")
      .addColumn("created_by", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("prompt_versions_key", ["prompt_id", "version"])
      .execute();
    await db.schema
      .createTable("prompt_labels")
      .addColumn("prompt_id", "text", (column) => column.notNull().references("prompts.id").onDelete("cascade"))
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("prompt_labels_key", ["prompt_id", "label"])
      .execute();
  },
};
