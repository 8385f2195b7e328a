/** Empty databases of each kind, for tests that run on all of them. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createLogger } from "../../../src/kernel/logger.ts";
import type { DatabaseOptions } from "../../../src/storage/database.ts";
import { type PostgresServer, sharedPostgres } from "./postgres.ts";

export const DATABASE_KINDS = ["sqlite", "postgresql"] as const;

export interface TestDatabases {
  /** URL of a new, empty database, removed after the test file. */
  create(kind: (typeof DATABASE_KINDS)[number]): Promise<DatabaseOptions>;
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
  return {
    async create(kind) {
      const url = kind === "sqlite" ? undefined : await running().createDatabase();
      return { url, file: join(directory, `${randomUUID()}.sqlite`), logger: createLogger("silent") };
    },
    get postgres() {
      return running();
    },
  };
}
