import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const rateLimits: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("rate_limits")
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("requests_per_minute", "integer")
      .addColumn("requests_per_day", "integer")
      .addColumn("tokens_per_minute", "integer")
      .addColumn("audio_megabytes_per_minute", "integer")
      .addColumn("concurrent_requests", "integer")
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("rate_limits_key", ["project_id", "model"])
      .execute();
  },
};
