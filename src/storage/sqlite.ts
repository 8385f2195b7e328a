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
import { SqliteThread } from "./sqlite-thread.ts";

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
  readonly #file: string;
  #thread: SqliteThread | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#thread === undefined || this.#thread.isEnded) this.#thread = new SqliteThread(this.#file);
    return new ThreadConnection(this.#thread);
  }

  async releaseConnection(): Promise<void> {}

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
    await this.#thread?.close();
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
