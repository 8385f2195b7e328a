import { join } from "node:path";
import type { Logger } from "../kernel/logger.ts";
import type { Secret } from "../kernel/secret.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";

interface DatabaseSettings {
  environment: { readonly DATABASE_URL?: Secret | undefined };
  dataDirectory: string;
}

/** Returns where the configured database is: at DATABASE_URL, else in the data directory. */
export function databaseAddress({
  environment,
  dataDirectory,
}: DatabaseSettings): Pick<DatabaseOptions, "url" | "file"> {
  return { url: environment.DATABASE_URL, file: join(dataDirectory, "parlance.sqlite") };
}

export function openConfiguredDatabase(
  settings: DatabaseSettings,
  logger: Logger,
  options: Pick<DatabaseOptions, "migrates"> = {},
): Database {
  return openDatabase({ ...databaseAddress(settings), ...options, logger });
}
