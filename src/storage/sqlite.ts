/** SQLite for Kysely, opened so that several processes can share one file. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import BetterSqlite from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import { LRUCache } from "lru-cache";
import { PatientConnection } from "./patient-connection.ts";

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
/** SQLite's own waiting holds up everything that this process does, so that it is short; the rest waits in between. */
const BUSY_TIMEOUT_MILLISECONDS = 5;

/** `file` is made, with its folder, when it is not there yet. `:memory:` is a database of its own. */
export function sqliteDialect(file: string): SqliteDialect {
  return new SharedSqliteDialect({ database: async () => withKeptStatements(openFile(file)) });
}

const MOST_STATEMENTS = 200;
/** Of all that are kept: SQLite takes some fifty times as much for a statement of many rows. */
const MOST_LETTERS = 64 * 1024;

/** Kysely prepares each statement anew, which for one of many rows costs as much as its running. */
function withKeptStatements(database: BetterSqlite.Database): SqliteDatabase {
  const kept = new LRUCache<string, BetterSqlite.Statement>({
    max: MOST_STATEMENTS,
    maxSize: MOST_LETTERS,
    sizeCalculation: (_statement, text) => text.length,
    memoMethod: (text) => database.prepare(text),
  });
  return {
    prepare: (text) => kept.memo(text),
    close: () => {
      kept.clear();
      database.close();
    },
  };
}

function openFile(file: string): BetterSqlite.Database {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true });
  const database = new BetterSqlite(file, { timeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    database.pragma("journal_mode = WAL");
    // In WAL mode NORMAL may lose the last commits when the power goes, and a revoked key would then work again.
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MILLISECONDS}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

class SharedSqliteDialect extends SqliteDialect {
  readonly #settings: SqliteDialectConfig;

  constructor(settings: SqliteDialectConfig) {
    super(settings);
    this.#settings = settings;
  }

  override createDriver(): Driver {
    return new SharedSqliteDriver(this.#settings);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

class SharedSqliteDriver extends SqliteDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    return new PatientConnection(await super.acquireConnection());
  }

  /**
   * A transaction that reads first and writes later cannot wait for another process's write: it fails at once.
   * Taking the write lock at its beginning makes it wait instead.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /** After some errors, such as that of a full disk, SQLite has undone all by itself, and does not do it again. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("no transaction is active"))) throw error;
    }
  }
}

/** SQLite can undo changes of the schema; as one transaction, migrations of two processes come after each other. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
