import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Gives the history narrow rows. Its previous rows, a few days of metadata that no release has written, are dropped. */
export const requestDimensions: SchemaMigration = {
  oldestCompatible: "0012-request-dimensions",
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.dropTable("request_history").execute();
    await db.schema
      .createTable("request_dimensions")
      .addColumn("id", "bigint", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("operation", "text", (column) => column.notNull())
      .addColumn("model", "text")
      .addColumn("answered_by", "text")
      .addColumn("deployment", "text")
      .addColumn("status", "integer", (column) => column.notNull())
      .addColumn("outcome", "text")
      .addColumn("error", "text")
      .addColumn("last_day", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("request_dimensions_organization")
      .on("request_dimensions")
      .columns(["organization_id"])
      .execute();
    await db.schema
      .createTable("request_history")
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("dimension_id", "bigint", (column) => column.notNull())
      .addColumn("attempts", "integer")
      .addColumn("queued_milliseconds", "integer")
      .addColumn("first_token_milliseconds", "integer")
      .addColumn("duration_milliseconds", "integer", (column) => column.notNull())
      .addColumn("prompt_tokens", "integer")
      .addColumn("cached_tokens", "integer")
      .addColumn("completion_tokens", "integer")
      .addColumn("characters", "integer")
      .addColumn("audio_milliseconds", "integer")
      .addColumn("cost_nano_dollars", "bigint")
      .execute();
    // The only index: each one costs a third of an insertion.
    await db.schema.createIndex("request_history_at").on("request_history").columns(["at"]).execute();
  },
};
