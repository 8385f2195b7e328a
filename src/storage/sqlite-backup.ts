/** Copies of the SQLite database: made while the service runs, restored while it is stopped. */

import { chmod, constants, copyFile, link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import BetterSqlite from "better-sqlite3";
import { Fault } from "../kernel/faults.ts";
import { type CompatibilityRow, findIncompatible } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";

/**
 * Writes a consistent copy of `file` to `target`, which must not exist. Writers continue meanwhile: the copy contains
 * what was committed when it began. Resolves with its size in bytes.
 */
export async function backUpSqlite(file: string, target: string): Promise<number> {
  await ensureExists(file);
  if (await exists(target)) throw new Fault("conflict", `${target} exists already. Choose another name.`);
  const partial = `${target}.partial`;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rm(partial, { force: true });
  const database = new BetterSqlite(file, { fileMustExist: true });
  try {
    // One read transaction. SQLite's backup API starts again with every write of another process.
    database.prepare("vacuum into ?").run(partial);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    database.close();
  }
  await chmod(partial, 0o600);
  checkBackup(partial);
  await sync(partial);
  await rename(partial, target);
  await sync(dirname(target));
  return (await stat(target)).size;
}

/**
 * Replaces `file` with a backup after checking it. Resolves with the path that the replaced database was moved to,
 * undefined if there was none. Throws a Fault when a process uses the database or the backup cannot be used.
 */
export async function restoreSqlite(backup: string, file: string): Promise<string | undefined> {
  await ensureExists(backup);
  checkBackup(backup);
  const hasDatabase = await exists(file);
  if (hasDatabase) ensureUnused(file);
  const partial = `${file}.partial`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await copyFile(backup, partial);
  await chmod(partial, 0o600);
  await sync(partial);
  // A log of the replaced database must not be applied to the backup.
  for (const suffix of ["-wal", "-shm"]) await rm(`${file}${suffix}`, { force: true });
  const replaced = hasDatabase ? await keep(file) : undefined;
  await rename(partial, file);
  await sync(dirname(file));
  return replaced;
}

/**
 * Gives the database a second name that is free, so that neither another restore nor the end of this process leaves
 * fewer databases than there were.
 */
async function keep(file: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${file}.before-restore` : `${file}.before-restore-${number}`;
    try {
      // Some file systems have no second names.
      await link(file, name).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") throw error;
        return copyFile(file, name, constants.COPYFILE_EXCL);
      });
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Throws a Fault unless the file is an intact database that this version can use. */
function checkBackup(file: string): void {
  let database: BetterSqlite.Database | undefined;
  try {
    database = new BetterSqlite(file, { readonly: true, fileMustExist: true });
    const [{ quick_check: problem }] = database.pragma("quick_check(1)") as [{ quick_check: string }];
    if (problem !== "ok") throw new Fault("invalid-request", `${file} is damaged: ${problem}`);
    const names = database.prepare("select name from kysely_migration").pluck().all() as string[];
    const table = database.prepare("select 1 from sqlite_master where name = 'schema_compatibility'").get();
    const rows = table === undefined ? [] : database.prepare("select * from schema_compatibility").all();
    const incompatible = findIncompatible(names, rows as CompatibilityRow[], MIGRATIONS);
    if (incompatible !== undefined) {
      const message = `${file} is from a newer Parlance (migration \`${incompatible}\`). Use that version.`;
      throw new Fault("conflict", message);
    }
  } catch (error) {
    if (!(error instanceof BetterSqlite.SqliteError)) throw error;
    throw new Fault("invalid-request", `${file} is not a database of Parlance: ${error.message}.`, { cause: error });
  } finally {
    database?.close();
  }
}

/** SQLite leaves the WAL mode only while no other connection is open, which also completes the database file. */
function ensureUnused(file: string): void {
  const database = new BetterSqlite(file, { timeout: 0 });
  try {
    database.pragma("journal_mode = delete");
  } catch (error) {
    if (!(error instanceof BetterSqlite.SqliteError && error.code.startsWith("SQLITE_BUSY"))) throw error;
    throw new Fault("conflict", `${file} is in use. Stop the service before you restore its database.`, {
      cause: error,
    });
  } finally {
    database.close();
  }
}

async function ensureExists(file: string): Promise<void> {
  if (!(await exists(file))) throw new Fault("invalid-request", `${file} does not exist.`);
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  );
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, constants.O_RDONLY);
  await handle.sync();
}
