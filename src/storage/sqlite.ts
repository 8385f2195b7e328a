/** SQLite for Kysely, in a thread. */

import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqliteIdentity } from "./sqlite-file.ts";
import { SqliteThread } from "./sqlite-thread.ts";

/** An idle thread ends: it occupies some 15 MB. Its start takes some 50 ms. */
const IDLE_MS = 15_000;

/** Creates `file` and its folder when missing. `:memory:` opens a private in-memory database. */
export function sqliteDialect(file: string): Dialect {
  return {
    createDriver: () => new ThreadDriver(file),
    createAdapter: () => new TransactionalDdlAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely gives the one connection to one caller at a time. */
class ThreadDriver implements Driver {
  readonly #path: string;
  /** Of the file that the last thread had open. */
  #identity: SqliteIdentity | undefined;
  #thread: SqliteThread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    clearTimeout(this.#idle);
    await this.#ending;
    if (this.#thread === undefined || this.#thread.isEnded) {
      this.#thread = new SqliteThread({ path: this.#path, identity: this.#identity });
    }
    return new ThreadConnection(this.#thread);
  }

  async releaseConnection(): Promise<void> {
    // A database in memory lasts as long as its thread.
    if (this.#path === ":memory:") return;
    this.#idle = setTimeout(() => void this.destroy(), IDLE_MS).unref();
  }

  /**
   * A deferred transaction that reads and then writes fails with SQLITE_BUSY_SNAPSHOT instead of waiting for another
   * process's write. `begin immediate` takes the write lock first and waits for it.
   */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  /** SQLite has already rolled back by itself after some errors, such as SQLITE_FULL. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw("rollback"));
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("no transaction is active"))) throw error;
    }
  }

  async destroy(): Promise<void> {
    clearTimeout(this.#idle);
    this.#ending ??= this.#end();
    await this.#ending;
    this.#ending = undefined;
  }

  async #end(): Promise<void> {
    this.#identity = (await this.#thread?.close()) ?? this.#identity;
    this.#thread = undefined;
  }
}

/** Lasts until Kysely releases it. */
class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;
  #isFirst = true;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const { rows, changes } = await this.#thread.execute({ text, parameters, isFirst });
    const result = { rows: rows as Row[] };
    return changes === undefined ? result : { ...result, numAffectedRows: BigInt(changes) };
  }

  async *streamQuery<Row>(query: CompiledQuery): AsyncIterableIterator<QueryResult<Row>> {
    yield await this.executeQuery<Row>(query);
  }
}

/** SQLite can roll back DDL; one transaction makes the migrations of two processes run one after the other. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
