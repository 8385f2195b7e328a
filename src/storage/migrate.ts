/**
 * Runs migrations, and decides whether this version works with a schema that a newer one has migrated: an older process
 * keeps working until a migration states that it cannot.
 */

import { setTimeout as pause } from "node:timers/promises";
import { type Kysely, PostgresAdapter, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Fault, unavailable } from "../kernel/faults.ts";
import { isLockTimeout, isRetryableTransaction } from "./errors.ts";
import type { SchemaMigration } from "./migrations/schema-migration.ts";

export type Migrations = Readonly<Record<string, SchemaMigration>>;

/** Earlier ones have no row: every process that reads the table knows them. */
const FIRST_RECORDED = "0014-schema-compatibility";
const MAX_ATTEMPTS = 5;
/**
 * A statement that waits for the lock of a table makes all later ones wait behind it, those of requests too. So it gives
 * up, lets them pass and tries again, until the transaction that has the lock, such as a backup's, has ended.
 */
const LOCK_WAIT_MS = 2_000;
const LOCK_PAUSE_MS = 1_000;
const MAX_LOCK_WAITS = 40;

interface CompatibilityTables {
  kysely_migration: { name: string };
  schema_compatibility: CompatibilityRow;
}

export interface CompatibilityRow {
  migration: string;
  oldest_compatible: string | null;
}

/**
 * Runs the migrations that the database lacks. Throws a Fault: `conflict` if a newer version has made the schema
 * incompatible with this one, `unavailable` while another transaction keeps the lock of a table.
 */
export async function migrate(db: Kysely<unknown>, migrations: Migrations): Promise<void> {
  let lockWaits = 0;
  for (let attempt = 1; ; attempt += 1) {
    const { error } = await migratorOf(db, migrations).migrateToLatest();
    if (error === undefined) return;
    if (isLockTimeout(error)) {
      lockWaits += 1;
      if (lockWaits >= MAX_LOCK_WAITS) throw locked(error);
      attempt -= 1;
      await pause(LOCK_PAUSE_MS);
      continue;
    }
    // Requests of older replicas run at the same time.
    if (isRetryableTransaction(error) && attempt < MAX_ATTEMPTS) continue;
    // Kysely refuses every schema with migrations that this version does not know.
    if (!(await assertCompatible(db, migrations))) throw error;
    return;
  }
}

/** Returns the names of the migrations that the database lacks, oldest first. */
export async function pendingMigrations(db: Kysely<unknown>, migrations: Migrations): Promise<string[]> {
  const all = await migratorOf(db, migrations).getMigrations();
  return all.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
}

/**
 * Throws a Fault `conflict` if a newer version has made the schema incompatible with this one. Resolves with whether a
 * newer version has migrated it at all.
 */
export async function assertCompatible(db: Kysely<unknown>, migrations: Migrations): Promise<boolean> {
  const tables = db as Kysely<CompatibilityTables>;
  const executed = (await tables.selectFrom("kysely_migration").select("name").execute()).map(({ name }) => name);
  if (executed.every((name) => Object.hasOwn(migrations, name))) return false;
  const isRecorded = executed.includes(FIRST_RECORDED);
  const rows = isRecorded ? await tables.selectFrom("schema_compatibility").selectAll().execute() : [];
  const incompatible = findIncompatible(executed, rows, migrations);
  if (incompatible === undefined) return true;
  const problem = `A newer Parlance has migrated this database, which this version cannot use (migration \`${incompatible}\`).`;
  throw new Fault("conflict", `${problem} Start the newer version, or restore a backup from before the upgrade.`);
}

/** Returns the first executed migration after which a process that knows `migrations` no longer works. */
export function findIncompatible(
  executed: readonly string[],
  rows: readonly CompatibilityRow[],
  migrations: Migrations,
): string | undefined {
  const isCompatible = (name: string) => {
    const oldest = rows.find(({ migration }) => migration === name)?.oldest_compatible;
    return oldest === null || (oldest !== undefined && Object.hasOwn(migrations, oldest));
  };
  return executed
    .filter((name) => !Object.hasOwn(migrations, name))
    .sort()
    .find((name) => !isCompatible(name));
}

/** Kysely's lock makes replicas that start at the same time migrate one after the other. */
function migratorOf(db: Kysely<unknown>, migrations: Migrations): Migrator {
  const recorded = Object.entries(migrations).map(([name, migration]) => [name, recordCompatibility(name, migration)]);
  return new Migrator({ db, provider: { getMigrations: async () => Object.fromEntries(recorded) } });
}

/** Adds the migration's statement to its own transaction. */
function recordCompatibility(name: string, migration: SchemaMigration): SchemaMigration {
  if (name <= FIRST_RECORDED) return migration;
  return {
    async up(db: Kysely<CompatibilityTables>) {
      await boundLockWaits(db);
      await migration.up(db);
      const row = { migration: name, oldest_compatible: migration.oldestCompatible ?? null };
      await db.insertInto("schema_compatibility").values(row).execute();
    },
  };
}

/** Applies until the end of the transaction. SQLite has one lock, for which its connection waits. */
async function boundLockWaits(db: Kysely<CompatibilityTables>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`set local lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(db);
}

function locked(error: unknown): Fault {
  const message =
    "The database cannot be migrated, because another transaction keeps the lock of a table. End it, such as a backup or an idle transaction of `pg_stat_activity`, or wait: the migration is tried again.";
  return unavailable(message, "database_unavailable", 1, error);
}
