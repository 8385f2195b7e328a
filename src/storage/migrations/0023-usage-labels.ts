import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

const AMOUNTS = ["cache_write_tokens", "input_audio_tokens", "output_audio_tokens", "tool_calls"];

/** Adds amounts that few requests have, what upstreams say that requests cost, and sums by end user, tag and tool. */
export const usageLabels: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const amount of AMOUNTS) {
      await db.schema
        .alterTable("usage_rollups")
        .addColumn(amount, "bigint", (column) => column.notNull().defaultTo(0))
        .execute();
    }
    for (const cost of ["reported_cost_nano_dollars", "compared_cost_nano_dollars"])
      await db.schema.alterTable("usage_rollups").addColumn(cost, "bigint").execute();
    await db.schema.alterTable("usage_dimensions").addColumn("service_tier", "text").execute();
    await db.schema
      .alterTable("usage_dimensions")
      .addColumn("is_batch", "integer", (column) => column.notNull().defaultTo(0))
      .execute();

    await db.schema
      .createTable("usage_labels")
      .addColumn("id", "bigint", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("value", "text", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("usage_labels_organization")
      .on("usage_labels")
      .columns(["organization_id", "kind", "value"])
      .execute();

    let table = db.schema
      .createTable("usage_label_rollups")
      .addColumn("bucket_seconds", "integer", (column) => column.notNull())
      .addColumn("begins_at", "bigint", (column) => column.notNull())
      .addColumn("label_id", "bigint", (column) => column.notNull())
      .addColumn("dimension_id", "bigint", (column) => column.notNull())
      .addColumn("requests", "bigint", (column) => column.notNull())
      .addColumn("prompt_tokens", "bigint", (column) => column.notNull())
      .addColumn("cached_tokens", "bigint", (column) => column.notNull())
      .addColumn("completion_tokens", "bigint", (column) => column.notNull())
      .addColumn("reasoning_tokens", "bigint", (column) => column.notNull())
      .addColumn("characters", "bigint", (column) => column.notNull())
      .addColumn("audio_milliseconds", "bigint", (column) => column.notNull());
    for (const amount of AMOUNTS) table = table.addColumn(amount, "bigint", (column) => column.notNull().defaultTo(0));
    await table
      .addColumn("cost_nano_dollars", "bigint")
      .addColumn("reported_cost_nano_dollars", "bigint")
      .addColumn("compared_cost_nano_dollars", "bigint")
      .addPrimaryKeyConstraint("usage_label_rollups_key", ["bucket_seconds", "begins_at", "label_id", "dimension_id"])
      .execute();
    await db.schema
      .createIndex("usage_label_rollups_label")
      .on("usage_label_rollups")
      .columns(["label_id", "bucket_seconds", "begins_at"])
      .execute();
  },
};
