/** Migrations of this version and of two that follow it. PARLANCE_TEST_VERSION selects: `expand` or `contract`. */

import type { Kysely } from "kysely";
import { MIGRATIONS as RELEASED } from "../../../src/storage/migrations/migrations.ts";
import type { SchemaMigration } from "../../../src/storage/migrations/schema-migration.ts";

const NEXT: Record<string, SchemaMigration> = {
  "9000-expand": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("project_notes").addColumn("project_id", "text").addColumn("note", "text").execute();
      await db.schema
        .alterTable("usage_rollups")
        .addColumn("region", "text", (column) => column.notNull().defaultTo(""))
        .execute();
      await db.schema.createIndex("usage_rollups_region").on("usage_rollups").column("region").execute();
      await db.schema.alterTable("api_keys").addColumn("note", "text").execute();
    },
  },
};

const AFTER_NEXT: Record<string, SchemaMigration> = {
  "9001-contract": {
    oldestCompatible: "9000-expand",
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("api_keys").dropColumn("note").execute();
    },
  },
};

export const MIGRATIONS: Readonly<Record<string, SchemaMigration>> = {
  ...RELEASED,
  ...NEXT,
  ...(process.env.PARLANCE_TEST_VERSION === "contract" ? AFTER_NEXT : {}),
};
