/** SQLite for Kysely, opened so that several processes can share one file. */

import { mkdirSync, statSync } from "node:fs";
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
  const database = new SqliteFile(file);
  return new SharedSqliteDialect({ database: async () => database.open() }, database);
}

const MOST_STATEMENTS = 200;
/** Of all that are kept: SQLite takes some fifty times as much for a statement of many rows. */
const MOST_LETTERS = 64 * 1024;

/** SQLite's own code for it, which it does not find out in WAL mode. */
class MovedError extends Error {
  readonly code = "SQLITE_READONLY_DBMOVED";
}

class SqliteFile implements SqliteDatabase {
  readonly #path: string;
  #database: BetterSqlite.Database | undefined;
  #identity: string | undefined;
  /** Kysely prepares each statement anew, which for one of many rows costs as much as its running. */
  readonly #kept = new LRUCache<string, BetterSqlite.Statement>({
    max: MOST_STATEMENTS,
    maxSize: MOST_LETTERS,
    sizeCalculation: (_statement, text) => text.length,
    memoMethod: (text) => (this.#database as BetterSqlite.Database).prepare(text),
  });

  constructor(path: string) {
    this.#path = path;
  }

  open(): this {
    this.#database = openFile(this.#path);
    this.#identity = this.#findIdentity();
    return this;
  }

  prepare(text: string): BetterSqlite.Statement {
    return this.#kept.memo(text);
  }

  close(): void {
    this.#kept.clear();
    this.#database?.close();
  }

  /**
   * Throws when the file was removed or replaced: all that is written to it then would go with this process. One that
   * is there instead is opened, whose schema may be older. Without any, what was written stays where it can be rescued.
   */
  checkPlace(): void {
    const found = this.#findIdentity();
    const isOpen = this.#database?.open === true;
    // What was put in its place may not have been a database.
    if (found === this.#identity && isOpen) return;
    if (found === undefined) throw new MovedError(`${this.#path} was removed while it was in use`);
    // What the log beside it holds belongs to the file that was there: SQLite would write it into this one.
    if (isOpen) this.#database?.pragma("wal_checkpoint(TRUNCATE)");
    this.close();
    this.open();
    throw new MovedError(`${this.#path} was replaced while it was in use`);
  }

  #findIdentity(): string | undefined {
    if (this.#path === ":memory:") return "memory";
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found && `${found.dev} ${found.ino}`;
  }
}

function openFile(file: string): BetterSqlite.Database {
  if (file !== ":memory:") mkdirSync(dirname(file), { recursive: true });
  let database: BetterSqlite.Database | undefined;
  try {
    database = new BetterSqlite(file, { timeout: OPEN_TIMEOUT_MILLISECONDS });
    database.pragma("journal_mode = WAL");
    // In WAL mode NORMAL may lose the last commits when the power goes, and a revoked key would then work again.
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MILLISECONDS}`);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof BetterSqlite.SqliteError) error.message = `${file}: ${error.message}`;
    throw error;
  }
}

class SharedSqliteDialect extends SqliteDialect {
  readonly #settings: SqliteDialectConfig;
  readonly #file: SqliteFile;

  constructor(settings: SqliteDialectConfig, file: SqliteFile) {
    super(settings);
    this.#settings = settings;
    this.#file = file;
  }

  override createDriver(): Driver {
    return new SharedSqliteDriver(this.#settings, this.#file);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

class SharedSqliteDriver extends SqliteDriver {
  readonly #file: SqliteFile;

  constructor(settings: SqliteDialectConfig, file: SqliteFile) {
    super(settings);
    this.#file = file;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    try {
      this.#file.checkPlace();
    } catch (error) {
      // Thrown here, it would leave Kysely's lock on the one connection locked.
      return failing(error);
    }
    return new PatientConnection(connection);
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

function failing(error: unknown): DatabaseConnection {
  const fail = () => {
    throw error;
  };
  return { executeQuery: async () => fail(), streamQuery: fail };
}

/** SQLite can undo changes of the schema; as one transaction, migrations of two processes come after each other. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
