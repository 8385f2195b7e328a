import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const guardrails: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("project_guardrails")
      .addColumn("project_id", "text", (column) => column.primaryKey().references("projects.id"))
      .addColumn("guardrails", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
