import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** `bytea` holds bytes in both databases: SQLite takes any type name and stores a blob unchanged. */
export const storedResponses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("stored_responses")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("previous_response_id", "text")
      .addColumn("conversation_id", "text")
      .addColumn("is_background", "integer", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("conversations")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("response_items")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("response_id", "text")
      .addColumn("conversation_id", "text")
      .addColumn("position", "bigint", (column) => column.notNull())
      .addColumn("is_output", "integer", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("response_events")
      .addColumn("response_id", "text", (column) => column.notNull())
      .addColumn("first_sequence", "bigint", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .addPrimaryKeyConstraint("response_events_key", ["response_id", "first_sequence"])
      .execute();
    for (const table of ["stored_responses", "conversations"]) {
      for (const column of ["project_id", "used_at"]) {
        await db.schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute();
      }
    }
    for (const column of ["response_id", "conversation_id"]) {
      const name = `response_items_by_${column}`;
      await db.schema.createIndex(name).on("response_items").columns([column, "position"]).execute();
    }
    await db.schema.createIndex("response_items_by_project_id").on("response_items").column("project_id").execute();
  },
};
