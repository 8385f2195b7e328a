import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

export const webhooks: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("webhook_deliveries")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("event_id", "text", (column) => column.notNull())
      .addColumn("endpoint", "text", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("payload", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("due_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("webhook_deliveries_due_at").on("webhook_deliveries").column("due_at").execute();
    await db.schema
      .createTable("spend_alerts")
      .addColumn("scope_id", "text", (column) => column.notNull())
      .addColumn("month", "bigint", (column) => column.notNull())
      .addColumn("begun_at", "bigint", (column) => column.notNull())
      .addColumn("threshold_cents", "bigint", (column) => column.notNull())
      .addColumn("percent", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("spend_alerts_key", ["scope_id", "month", "begun_at", "threshold_cents", "percent"])
      .execute();
    await db.schema
      .createTable("deployment_outages")
      .addColumn("deployment", "text", (column) => column.primaryKey())
      .addColumn("since", "bigint", (column) => column.notNull())
      .addColumn("seen_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
