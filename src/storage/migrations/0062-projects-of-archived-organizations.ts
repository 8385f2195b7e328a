import { type Kysely, sql } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Archives the projects of organizations that were archived alone, so that their content is deleted, too. */
export const projectsOfArchivedOrganizations: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      update projects set archived_at = (select archived_at from organizations where id = projects.organization_id)
      where archived_at is null
      and organization_id in (select id from organizations where archived_at is not null)
    `.execute(db);
  },
};
