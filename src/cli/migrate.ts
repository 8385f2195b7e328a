/** `parlance migrate`: migrates the configured database, or checks whether it is current. */

import { Command } from "commander";
import { loadConfig } from "../config/load-config.ts";
import { openLog } from "../observability/open-log.ts";
import { openConfiguredDatabase } from "../storage/configured-database.ts";
import type { Database } from "../storage/database.ts";
import { configSources } from "./config-sources.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .option("--check", "change nothing; exit with 1 and list the pending migrations if there are any")
    .action(({ check }: { check?: true }) => (check ? printPending() : migrate()));
}

async function migrate(): Promise<void> {
  await using opened = await openConfigured();
  const pending = await opened.database.pendingMigrations();
  await opened.database.migrate();
  console.log(pending.length === 0 ? "The database is current." : `Migrated the database: ${pending.join(", ")}.`);
}

async function printPending(): Promise<void> {
  await using opened = await openConfigured();
  const pending = await opened.database.pendingMigrations();
  for (const name of pending) console.log(name);
  if (pending.length > 0) process.exitCode = 1;
  else console.error("The database is current.");
}

async function openConfigured(): Promise<AsyncDisposable & { database: Database }> {
  const database = openConfiguredDatabase(await loadConfig(configSources()), openLog("warn"));
  return { database, [Symbol.asyncDispose]: () => database.close() };
}
