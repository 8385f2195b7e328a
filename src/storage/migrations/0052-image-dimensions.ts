import type { Kysely } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Operation and size of images, by which usage is summed; null: none, or recorded before. */
export const imageDimensions: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ["image_source", "image_size"]) {
      await db.schema.alterTable("usage_dimensions").addColumn(column, "text").execute();
    }
  },
};
