import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Finds what is due for each endpoint without reading the deliveries that wait. */
export const webhookBacklogs: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createIndex("webhook_deliveries_by_endpoint")
      .on("webhook_deliveries")
      .columns(["endpoint", "due_at"])
      .execute();
  },
};
