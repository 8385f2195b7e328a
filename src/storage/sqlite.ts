/** SQLite for Kysely, opened so that several processes can share one file. */

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
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
import { BusyRetryConnection, type Clock, SYSTEM_CLOCK } from "./busy-retry-connection.ts";
import { FileReplacedError } from "./errors.ts";

const OPEN_TIMEOUT_MS = 5_000;
/** SQLite's own wait blocks the event loop, so it is short; BusyRetryConnection waits the rest without blocking. */
const BUSY_TIMEOUT_MS = 5;

/** Creates `file` and its folder when missing. `:memory:` opens a private in-memory database. */
export function sqliteDialect(file: string, clock: Clock = SYSTEM_CLOCK): SqliteDialect {
  const database = new SqliteFile(file);
  return new ParlanceSqliteDialect({ database: async () => database.open() }, database, clock);
}

const MAX_CACHED_STATEMENTS = 200;
/** Bounds the cached SQL text: a prepared multi-row insert takes some fifty times the memory of its text. */
const MAX_CACHED_CHARACTERS = 64 * 1024;

class SqliteFile implements SqliteDatabase {
  readonly #path: string;
  #database: BetterSqlite.Database | undefined;
  #identity: string | undefined;
  /** Prepared statements: Kysely prepares each query, which for a multi-row insert costs as much as running it. */
  readonly #kept = new LRUCache<string, BetterSqlite.Statement>({
    max: MAX_CACHED_STATEMENTS,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_statement, text) => text.length,
    memoMethod: (text) => (this.#database as BetterSqlite.Database).prepare(text),
  });

  constructor(path: string) {
    this.#path = path;
  }

  open(): this {
    this.#database = openFile(this.#path);
    this.#identity = this.#readFileIdentity();
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
   * Throws a FileReplacedError when the file was removed or replaced, since writes to an unlinked file are lost. Opens
   * the file that took its place, whose schema may be older.
   */
  checkFileIdentity(): void {
    const identity = this.#readFileIdentity();
    const isOpen = this.#database?.open === true;
    // The last replacement may not have been a database, in which case nothing is open.
    if (identity === this.#identity && isOpen) return;
    if (identity === undefined) throw new FileReplacedError(`${this.#path} was removed while it was in use`);
    // The -wal file holds pages of the previous file: SQLite would write them into the new one.
    if (isOpen) this.#database?.pragma("wal_checkpoint(TRUNCATE)");
    this.close();
    this.open();
    throw new FileReplacedError(`${this.#path} was replaced while it was in use`);
  }

  #readFileIdentity(): string | undefined {
    if (this.#path === ":memory:") return "memory";
    const file = statSync(this.#path, { throwIfNoEntry: false });
    return file && `${file.dev} ${file.ino}`;
  }
}

function openFile(file: string): BetterSqlite.Database {
  if (file !== ":memory:") createPrivately(file);
  let database: BetterSqlite.Database | undefined;
  try {
    database = new BetterSqlite(file, { timeout: OPEN_TIMEOUT_MS });
    database.pragma("journal_mode = WAL");
    // With NORMAL, WAL mode may lose the last commits on power loss, and a revoked key would work again.
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    // Deleted rows leave no text in free pages, so that an erasure removes it from the file.
    database.pragma("secure_delete = ON");
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof BetterSqlite.SqliteError) error.message = `${file}: ${error.message}`;
    throw error;
  }
}

/** The file holds key hashes and usage: only its owner may read it. SQLite gives -wal and -shm the same mode. */
function createPrivately(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, "a", 0o600));
  try {
    // A file of an earlier version, or a restored backup.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch (error) {
    // EPERM: another user owns the file, who decides about its mode.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) throw error;
  }
}

class ParlanceSqliteDialect extends SqliteDialect {
  readonly #settings: SqliteDialectConfig;
  readonly #file: SqliteFile;
  readonly #clock: Clock;

  constructor(settings: SqliteDialectConfig, file: SqliteFile, clock: Clock) {
    super(settings);
    this.#settings = settings;
    this.#file = file;
    this.#clock = clock;
  }

  override createDriver(): Driver {
    return new ParlanceSqliteDriver(this.#settings, this.#file, this.#clock);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

class ParlanceSqliteDriver extends SqliteDriver {
  readonly #file: SqliteFile;
  readonly #clock: Clock;
  /** Queries and transactions that wait for the only connection, in order. */
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  constructor(settings: SqliteDialectConfig, file: SqliteFile, clock: Clock) {
    super(settings);
    this.#file = file;
    this.#clock = clock;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const requestedAt = this.#clock.now();
    if (this.#isTaken) await new Promise<void>((start) => void this.#waiting.push(start));
    this.#isTaken = true;
    const connection = await super.acquireConnection();
    try {
      this.#file.checkFileIdentity();
    } catch (error) {
      // Thrown here, the error would leave the connection taken.
      return failing(error);
    }
    return new BusyRetryConnection(connection, this.#clock, requestedAt);
  }

  override async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  /**
   * A deferred transaction that reads and then writes fails with SQLITE_BUSY_SNAPSHOT instead of waiting for another
   * process's write. `begin immediate` takes the write lock first and waits for it.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /** SQLite has already rolled back by itself after some errors, such as SQLITE_FULL. */
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

/** SQLite can roll back DDL; one transaction makes the migrations of two processes run one after the other. */
class TransactionalDdlAdapter extends SqliteAdapter {
  /** Kysely's own lock would hide from the driver since when a query waits. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
