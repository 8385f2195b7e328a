import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Skills of projects and their versions. */
export const skills: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("skills")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("default_version", "integer", (column) => column.notNull())
      .addColumn("last_version", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("skills_by_project").on("skills").columns(["project_id", "created_at", "id"]).execute();
    await db.schema
      .createTable("skill_versions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("skill_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("description", "text", (column) => column.notNull())
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("created_by", "text")
      .execute();
    await db.schema
      .createIndex("skill_versions_by_skill")
      .on("skill_versions")
      .columns(["skill_id", "version"])
      .execute();
    await db.schema.createIndex("skill_versions_by_project").on("skill_versions").column("project_id").execute();
    await db.schema.createIndex("skill_versions_by_author").on("skill_versions").column("created_by").execute();
  },
};
