/** `parlance backup` and `parlance restore`, for the SQLite database. */

import { resolve } from "node:path";
import { Command } from "commander";
import { loadConfig } from "../config/load-config.ts";
import { Fault } from "../kernel/faults.ts";
import { databaseAddress } from "../storage/configured-database.ts";
import { backUpSqlite, restoreSqlite } from "../storage/sqlite-backup.ts";
import { configSources } from "./config-sources.ts";
import { formatBytes } from "./format-bytes.ts";

export function backupCommand(): Command {
  return new Command("backup").argument("<file>", "file to create").action(async (file: string) => {
    const target = resolve(file);
    const bytes = await backUpSqlite(await databaseFile("pg_dump"), target);
    console.log(`Backed up to ${target} (${formatBytes(bytes)}).`);
  });
}

export function restoreCommand(): Command {
  return new Command("restore")
    .argument("<file>", "file that `parlance backup` created")
    .action(async (file: string) => {
      const replaced = await restoreSqlite(resolve(file), await databaseFile("pg_restore"));
      console.log(`Restored ${resolve(file)}.`);
      if (replaced !== undefined) console.log(`The replaced database is ${replaced}.`);
    });
}

async function databaseFile(tool: string): Promise<string> {
  const { url, file } = databaseAddress(await loadConfig(configSources()));
  if (url === undefined) return file;
  throw new Fault("invalid-request", `DATABASE_URL names a PostgreSQL database: use ${tool}.`);
}
