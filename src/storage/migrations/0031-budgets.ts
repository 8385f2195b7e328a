import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Budgets and alerts of spending, and e-mails until they are delivered. */
export const budgets: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("budgets")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text")
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("name", "text")
      .addColumn("subject", "text", (column) => column.notNull())
      .addColumn("subject_id", "text")
      .addColumn("period", "text", (column) => column.notNull())
      .addColumn("threshold_cents", "bigint", (column) => column.notNull())
      .addColumn("is_enforcing", "integer", (column) => column.notNull())
      .addColumn("starts_at", "bigint", (column) => column.notNull())
      .addColumn("alert_percents", "text", (column) => column.notNull())
      .addColumn("recipients", "text", (column) => column.notNull())
      .addColumn("subject_prefix", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("budgets_organization")
      .on("budgets")
      .columns(["organization_id", "created_at"])
      .execute();
    await db.schema
      .createTable("mail_deliveries")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("recipient", "text", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("subject", "text", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("due_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("mail_deliveries_due").on("mail_deliveries").column("due_at").execute();
  },
};
