import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const moderationPolicies: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("moderation_policies")
      .addColumn("project_id", "text", (column) => column.primaryKey().references("projects.id"))
      .addColumn("model", "text")
      .addColumn("input_mode", "text")
      .addColumn("output_mode", "text")
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
