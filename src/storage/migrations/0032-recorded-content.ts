import { type Kysely, PostgresAdapter, sql } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** What projects record, its index for full-text search, and feedback. */
export const recordedContent: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const isPostgresql = db.getExecutor().adapter instanceof PostgresAdapter;
    await db.schema
      .createTable("project_recordings")
      .addColumn("project_id", "text", (column) => column.primaryKey().references("projects.id"))
      .addColumn("settings", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("recorded_contents")
      .addColumn("number", isPostgresql ? "bigserial" : "integer", (column) =>
        isPostgresql ? column.primaryKey() : column.primaryKey().autoIncrement(),
      )
      .addColumn("id", "text", (column) => column.notNull().unique())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("end_user", "text")
      .addColumn("completion_id", "text")
      .addColumn("model", "text")
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("bytes", "bigint", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .execute();
    const index = (name: string, columns: readonly string[]) =>
      db.schema
        .createIndex(`recorded_contents_by_${name}`)
        .on("recorded_contents")
        .columns([...columns])
        .execute();
    // Contains the bytes, so that a sum reads the index only.
    await index("project", ["project_id", "number", "bytes"]);
    await index("expiry", ["expires_at"]);
    await index("completion", ["completion_id"]);
    await index("key", ["key_id"]);
    if (isPostgresql) {
      await sql`alter table recorded_contents add column tokens tsvector`.execute(db);
      await sql`create index recorded_contents_by_tokens on recorded_contents using gin (tokens)`.execute(db);
    } else {
      await sql`create virtual table recorded_index
        using fts5(tokens, content='', contentless_delete=1, detail=none, tokenize='ascii')`.execute(db);
    }
    await db.schema
      .createTable("request_feedback")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("request_id", "text", (column) => column.notNull())
      .addColumn("organization_id", "text", (column) => column.notNull())
      .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("user_id", "text")
      .addColumn("score", "double precision")
      .addColumn("tags", "text", (column) => column.notNull())
      .addColumn("comment", "bytea")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("request_feedback_by_author", ["request_id", "key_id"])
      .execute();
    await db.schema.createIndex("request_feedback_by_time").on("request_feedback").column("created_at").execute();
  },
};
