/** One SQLite file, opened so that several processes can share it. Runs in the thread of `sqlite-thread.ts`. */

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import BetterSqlite from "better-sqlite3";
import { LRUCache } from "lru-cache";
import { FileReplacedError } from "./errors.ts";

/** Another process may write meanwhile. */
const BUSY_TIMEOUT_MS = 5_000;
const MAX_CACHED_STATEMENTS = 200;
/** Bounds the cached SQL text: a prepared multi-row insert takes some fifty times the memory of its text. */
const MAX_CACHED_CHARACTERS = 64 * 1024;

type SqliteRow = Record<string, unknown>;

export interface SqliteResult {
  rows: SqliteRow[];
  /** Rows that a statement without results changed. */
  changes?: number | undefined;
  /** Columns of bytes. */
  byteColumns?: readonly string[] | undefined;
}

/** An inode is used again for another file, which has another schema, or one that this version knows. */
export interface SqliteIdentity {
  inode: string | undefined;
  schemaVersion: unknown;
}

export class SqliteFile {
  readonly #path: string;
  #database: BetterSqlite.Database | undefined;
  #identity: SqliteIdentity | undefined;
  /** Prepared statements: preparing a multi-row insert costs as much as running it. */
  readonly #prepared = new LRUCache<string, BetterSqlite.Statement, BetterSqlite.Database>({
    max: MAX_CACHED_STATEMENTS,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_statement, text) => text.length,
    memoMethod: (text, _stale, { context }) => context.prepare(text),
  });

  /** With the `identity` of an earlier use, opens only the same file. `:memory:` is a private in-memory database. */
  constructor(path: string, identity?: SqliteIdentity) {
    this.#path = path;
    this.#identity = identity;
  }

  /**
   * Opens the file unless it is open; the first time, creates it and its folder when missing. Throws a
   * FileReplacedError when it was removed or replaced since, because writes to an unlinked file are lost. Opens the
   * file that took its place, whose schema may be older.
   */
  ensureOpen(): void {
    const known = this.#identity;
    const inode = this.#readInode();
    if (known !== undefined && inode === undefined) {
      throw new FileReplacedError(`${this.#path} was removed while it was in use`);
    }
    if (this.#database !== undefined && inode === known?.inode) return;
    // The -wal file holds pages of the previous file: SQLite would write them into the new one.
    this.#database?.pragma("wal_checkpoint(TRUNCATE)");
    this.close();
    this.#database = openDatabase(this.#path);
    this.#identity = { inode: this.#readInode(), schemaVersion: schemaVersionOf(this.#database) };
    const isReplaced = known !== undefined && !isDeepStrictEqual(known, this.#identity);
    if (isReplaced) throw new FileReplacedError(`${this.#path} was replaced while it was in use`);
  }

  execute(text: string, parameters: readonly unknown[]): SqliteResult {
    if (this.#database === undefined) throw new Error(`${this.#path} is not open`);
    const statement = this.#prepared.memo(text, { context: this.#database });
    if (!statement.reader) return { rows: [], changes: statement.run(parameters).changes };
    const rows = statement.all(parameters) as SqliteRow[];
    const byteColumns = statement.columns().filter(({ type }) => type === "bytea");
    return byteColumns.length === 0 ? { rows } : { rows, byteColumns: byteColumns.map(({ name }) => name) };
  }

  /** Returns what a later use recognizes the file by. */
  close(): SqliteIdentity | undefined {
    this.#prepared.clear();
    const database = this.#database;
    this.#database = undefined;
    if (database === undefined || this.#identity === undefined) return this.#identity;
    const schemaVersion = schemaVersionOf(database);
    database.close();
    return { ...this.#identity, schemaVersion };
  }

  #readInode(): string | undefined {
    if (this.#path === ":memory:") return "memory";
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found && `${found.dev} ${found.ino}`;
  }
}

function schemaVersionOf(database: BetterSqlite.Database): unknown {
  return database.pragma("schema_version", { simple: true });
}

function openDatabase(file: string): BetterSqlite.Database {
  if (file !== ":memory:") createPrivately(file);
  let database: BetterSqlite.Database | undefined;
  try {
    database = new BetterSqlite(file, { timeout: BUSY_TIMEOUT_MS });
    database.pragma("journal_mode = WAL");
    // With NORMAL, WAL mode may lose the last commits on power loss, and a revoked key would work again.
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
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
