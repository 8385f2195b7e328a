/** A SQLite file with the current schema and no rows, which tests copy instead of migrating each. */

import { randomUUID } from "node:crypto";
import { copyFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createLogger } from "../../../src/kernel/logger.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { ROOT } from "../service/executable.ts";

const FILE = join(ROOT, "node_modules/.cache/parlance-test/migrated.sqlite");

/** Makes the file, once per run. */
export default async function makeMigratedFile(): Promise<void> {
  await mkdir(dirname(FILE), { recursive: true });
  const partial = `${FILE}.${randomUUID()}`;
  const database = openDatabase({ url: undefined, file: partial, logger: createLogger("silent") });
  await database.migrate();
  await database.close();
  await rename(partial, FILE);
  process.env.PARLANCE_TEST_MIGRATED_FILE = FILE;
}

/** Makes `file` a migrated database; leaves it out where no setup has made one, as in benchmarks. */
export function copyMigratedFile(file: string): void {
  const { PARLANCE_TEST_MIGRATED_FILE: source } = process.env;
  if (source !== undefined) copyFileSync(source, file);
}
