/** SQLite for Kysely, opened so that several processes can share one file. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import BetterSqlite from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";

const BUSY_TIMEOUT_MILLISECONDS = 5_000;

/** `file` is made, with its folder, when it is not there yet. `:memory:` is a database of its own. */
export function sqliteDialect(file: string): SqliteDialect {
  return new SharedSqliteDialect({ database: async () => openFile(file) });
}

function openFile(file: string): BetterSqlite.Database {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true });
  const database = new BetterSqlite(file, { timeout: BUSY_TIMEOUT_MILLISECONDS });
  database.pragma("journal_mode = WAL");
  // In WAL mode NORMAL may lose the last commits when the power goes, and a revoked key would then work again.
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  return database;
}

class SharedSqliteDialect extends SqliteDialect {
  readonly #settings: SqliteDialectConfig;

  constructor(settings: SqliteDialectConfig) {
    super(settings);
    this.#settings = settings;
  }

  override createDriver(): Driver {
    return new ImmediateSqliteDriver(this.#settings);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

/**
 * A transaction that reads first and writes later cannot wait for another process's write: it fails at once.
 * Taking the write lock at its beginning makes it wait for the busy timeout instead.
 */
class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }
}

/** SQLite can undo changes of the schema; as one transaction, migrations of two processes come after each other. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
