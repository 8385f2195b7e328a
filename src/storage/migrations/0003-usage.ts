import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const usage: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("usage_dimensions")
      .addColumn("id", "bigint", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("deployment", "text", (column) => column.notNull())
      .addColumn("operation", "text", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("usage_dimensions_organization")
      .on("usage_dimensions")
      .columns(["organization_id", "operation"])
      .execute();

    await db.schema
      .createTable("usage_records")
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("dimension_id", "bigint", (column) => column.notNull())
      .addColumn("prompt_tokens", "integer", (column) => column.notNull())
      .addColumn("cached_tokens", "integer", (column) => column.notNull())
      .addColumn("completion_tokens", "integer", (column) => column.notNull())
      .addColumn("reasoning_tokens", "integer", (column) => column.notNull())
      .addColumn("characters", "integer", (column) => column.notNull())
      .addColumn("audio_milliseconds", "integer", (column) => column.notNull())
      .addColumn("duration_milliseconds", "integer", (column) => column.notNull())
      .addColumn("cost_nano_dollars", "bigint")
      .addColumn("outcome", "text", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("usage_records_at").on("usage_records").columns(["at"]).execute();

    await db.schema
      .createTable("usage_rollups")
      .addColumn("bucket_seconds", "integer", (column) => column.notNull())
      .addColumn("begins_at", "bigint", (column) => column.notNull())
      .addColumn("dimension_id", "bigint", (column) => column.notNull())
      .addColumn("requests", "bigint", (column) => column.notNull())
      .addColumn("prompt_tokens", "bigint", (column) => column.notNull())
      .addColumn("cached_tokens", "bigint", (column) => column.notNull())
      .addColumn("completion_tokens", "bigint", (column) => column.notNull())
      .addColumn("reasoning_tokens", "bigint", (column) => column.notNull())
      .addColumn("characters", "bigint", (column) => column.notNull())
      .addColumn("audio_milliseconds", "bigint", (column) => column.notNull())
      .addColumn("cost_nano_dollars", "bigint")
      .addPrimaryKeyConstraint("usage_rollups_key", ["bucket_seconds", "begins_at", "dimension_id"])
      .execute();

    await db.schema
      .createTable("usage_writers")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("last_batch", "bigint", (column) => column.notNull())
      .addColumn("written_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
