import { type Kysely, sql } from "kysely";
import type { SchemaMigration } from "./schema-migration.ts";

/** Names of groups that a provider's rules made: the provider's ID and the group there. */
const PROVIDER_GROUP = /^([a-z0-9][a-z0-9-]{0,38})\/(.+)$/s;

/** Groups of sign-on providers as a type of their own, names that were resolved once, and authors of invites. */
export const providerGroups: SchemaMigration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("groups").addColumn("provider_id", "text").execute();
    await db.schema.alterTable("groups").addColumn("provider_group", "text").execute();
    await db.schema.alterTable("invites").addColumn("invited_by_key", "text").execute();
    await db.schema
      .createTable("resolved_names")
      .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
      .addColumn("kind", "text", (column) => column.notNull())
      // The organization or project in which the name is looked up.
      .addColumn("scope_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("target_id", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("resolved_names_key", ["scope_id", "kind", "name"])
      .execute();
    await convertGroups(db);
  },
};

/** Only a provider's sign-on adds members with its issuer as their source. Those by hand leave its groups. */
async function convertGroups(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: string; name: string }>`select id, name from groups where name like '%/%' and id in
    (select group_id from group_members where source not in ('manual', 'scim'))`.execute(db);
  for (const { id, name } of rows) {
    const [, provider, group] = PROVIDER_GROUP.exec(name) ?? [];
    if (provider === undefined) continue;
    const groupThere = group === "everyone" ? "*" : group;
    await sql`update groups set provider_id = ${provider}, provider_group = ${groupThere}, is_scim_managed = 0
      where id = ${id}`.execute(db);
    await sql`delete from group_members where group_id = ${id} and source in ('manual', 'scim')`.execute(db);
  }
}
