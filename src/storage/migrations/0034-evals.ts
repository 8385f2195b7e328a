import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const evals: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("evals")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("definition", "text", (column) => column.notNull())
      .addColumn("metadata", "text")
      .addColumn("created_by", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("evals_by_project").on("evals").columns(["project_id", "created_at"]).execute();
    await db.schema
      .createTable("eval_runs")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("eval_id", "text", (column) => column.notNull().references("evals.id").onDelete("cascade"))
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("source", "bytea", (column) => column.notNull())
      .addColumn("metadata", "text")
      .addColumn("error", "text")
      .addColumn("total", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("ended_at", "bigint")
      .addColumn("lease_id", "text")
      .addColumn("due_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("eval_runs_by_eval").on("eval_runs").columns(["eval_id", "created_at"]).execute();
    await db.schema.createIndex("eval_runs_by_end").on("eval_runs").column("ended_at").execute();
    await db.schema
      .createTable("eval_items")
      .addColumn("run_id", "text", (column) => column.notNull().references("eval_runs.id").onDelete("cascade"))
      .addColumn("position", "integer", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("summary", "text", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("eval_items_key", ["run_id", "position"])
      .execute();
  },
};
