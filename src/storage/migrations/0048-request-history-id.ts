import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Finds single requests. IDs begin with the time, so that an insertion costs a sixth more instead of ten times as much. */
export const requestHistoryId: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.createIndex("request_history_id").on("request_history").columns(["id"]).execute();
  },
};
