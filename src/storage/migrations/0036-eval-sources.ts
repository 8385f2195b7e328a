import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Runs over stored content and in comparisons, and feedback by version of a stored prompt. */
export const evalSources: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("eval_runs").addColumn("comparison_id", "text").execute();
    await db.schema.alterTable("eval_runs").addColumn("row_ids", "text").execute();
    await db.schema.alterTable("eval_items").addColumn("organization_id", "text").execute();
    await db.schema.alterTable("eval_items").addColumn("author_key_id", "text").execute();
    await db.schema.alterTable("eval_items").addColumn("end_user", "text").execute();
    await db.schema.alterTable("request_feedback").addColumn("prompt", "text").execute();
    await db.schema
      .createIndex("request_feedback_by_prompt")
      .on("request_feedback")
      .columns(["project_id", "prompt"])
      .execute();
  },
};
