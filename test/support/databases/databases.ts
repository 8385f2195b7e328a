/** Databases of each kind, for tests that run on all of them. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createLogger } from "../../../src/kernel/logger.ts";
import type { DatabaseOptions } from "../../../src/storage/database.ts";
import { copyMigratedFile } from "./migrated-file.ts";
import { type PostgresServer, sharedPostgres } from "./postgres.ts";

export const DATABASE_KINDS = ["sqlite", "postgresql"] as const;

type Kind = (typeof DATABASE_KINDS)[number];

export interface TestDatabases {
  /** A new database with the current schema and no rows, removed after the test file. */
  create(kind: Kind): Promise<DatabaseOptions>;
  /** The same without a schema. */
  createEmpty(kind: Kind): Promise<DatabaseOptions>;
  readonly postgres: PostgresServer;
}

/** Creates databases on the worker's PostgreSQL server. Call it at the top of the file. */
export function useDatabases(): TestDatabases {
  const directory = mkdtempSync(join(tmpdir(), "parlance-db-"));
  let postgres: PostgresServer | undefined;
  const running = () => {
    if (postgres === undefined) throw new Error("the server is there in tests only");
    return postgres;
  };
  beforeAll(async () => {
    postgres = await sharedPostgres();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const optionsOf = (url: DatabaseOptions["url"]): DatabaseOptions => {
    return { url, file: join(directory, `${randomUUID()}.sqlite`), logger: createLogger("silent") };
  };
  return {
    async create(kind) {
      const url = kind === "sqlite" ? undefined : await running().createDatabase();
      const options = optionsOf(url);
      if (kind === "sqlite") copyMigratedFile(options.file);
      return options;
    },
    createEmpty: async (kind) => optionsOf(kind === "sqlite" ? undefined : await running().createEmptyDatabase()),
    get postgres() {
      return running();
    },
  };
}
