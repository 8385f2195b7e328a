import type { Executor } from "../../storage/database.ts";
import type { ConfigurationChangeRow, ConfigurationEntryRow, ConfigurationVersionRow } from "./configuration-rows.ts";

/** Rows of one statement: SQLite takes a bounded number of values. */
const ROWS_AT_ONCE = 100;

export async function readConfigurationVersion(executor: Executor): Promise<number> {
  const row = await executor.selectFrom("configurationState").select("version").executeTakeFirstOrThrow();
  return row.version;
}

/** Moves to the next version; false when another change came first. */
export async function advanceConfigurationVersion(executor: Executor, from: number): Promise<boolean> {
  const { numUpdatedRows } = await executor
    .updateTable("configurationState")
    .set({ version: from + 1 })
    .where("version", "=", from)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

export async function listConfigurationEntries(executor: Executor): Promise<ConfigurationEntryRow[]> {
  return executor.selectFrom("configurationEntries").selectAll().orderBy("position").orderBy("name").execute();
}

export async function putConfigurationEntry(executor: Executor, row: ConfigurationEntryRow): Promise<void> {
  const { kind: _kind, name: _name, ...values } = row;
  await executor
    .insertInto("configurationEntries")
    .values(row)
    .onConflict((conflict) => conflict.columns(["kind", "name"]).doUpdateSet(values))
    .execute();
}

export async function deleteConfigurationEntry(
  executor: Executor,
  { kind, name }: Pick<ConfigurationEntryRow, "kind" | "name">,
): Promise<void> {
  await executor.deleteFrom("configurationEntries").where("kind", "=", kind).where("name", "=", name).execute();
}

export async function insertConfigurationVersion(
  executor: Executor,
  row: ConfigurationVersionRow,
  changes: readonly ConfigurationChangeRow[],
): Promise<void> {
  await executor.insertInto("configurationVersions").values(row).execute();
  for (let start = 0; start < changes.length; start += ROWS_AT_ONCE) {
    await executor
      .insertInto("configurationChanges")
      .values(changes.slice(start, start + ROWS_AT_ONCE))
      .execute();
  }
}

export async function listConfigurationVersions(
  executor: Executor,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<ConfigurationVersionRow[]> {
  return executor
    .selectFrom("configurationVersions")
    .selectAll()
    .$if(before !== undefined, (query) => query.where("version", "<", before as number))
    .orderBy("version", "desc")
    .limit(limit)
    .execute();
}

export async function findConfigurationVersion(
  executor: Executor,
  version: number,
): Promise<ConfigurationVersionRow | undefined> {
  return executor.selectFrom("configurationVersions").selectAll().where("version", "=", version).executeTakeFirst();
}

/** Changes of the versions after `after`, up to `until`, oldest first. */
export async function listConfigurationChanges(
  executor: Executor,
  { after, until }: { after: number; until: number },
): Promise<ConfigurationChangeRow[]> {
  return executor
    .selectFrom("configurationChanges")
    .selectAll()
    .where("version", ">", after)
    .where("version", "<=", until)
    .orderBy("version")
    .orderBy("kind")
    .orderBy("name")
    .execute();
}

/** Deletes the history before a version. */
export async function deleteConfigurationVersions(executor: Executor, before: number): Promise<void> {
  await executor.deleteFrom("configurationChanges").where("version", "<", before).execute();
  await executor.deleteFrom("configurationVersions").where("version", "<", before).execute();
}

/** Replaces the secrets of an entry unless a change that came in between has written others. */
export async function renewEntrySecrets(
  executor: Executor,
  { kind, name, secrets: former }: ConfigurationEntryRow,
  secrets: Buffer,
): Promise<void> {
  await executor
    .updateTable("configurationEntries")
    .set({ secrets })
    .where("kind", "=", kind)
    .where("name", "=", name)
    .where("secrets", "=", former)
    .execute();
}

export async function renewChangeSecrets(
  executor: Executor,
  { version, kind, name }: ConfigurationChangeRow,
  secrets: Partial<Pick<ConfigurationChangeRow, "secretsBefore" | "secretsAfter">>,
): Promise<void> {
  await executor
    .updateTable("configurationChanges")
    .set(secrets)
    .where("version", "=", version)
    .where("kind", "=", kind)
    .where("name", "=", name)
    .execute();
}
