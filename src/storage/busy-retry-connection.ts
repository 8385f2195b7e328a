import { setTimeout as sleep } from "node:timers/promises";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";

const MAX_WAIT_MS = 5_000;
const MAX_DELAY_MS = 50;

/** Retries SQLITE_BUSY with backoff while another connection writes, without blocking the event loop. */
export class BusyRetryConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const giveUpAt = performance.now() + MAX_WAIT_MS;
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_DELAY_MS)) {
      try {
        return await this.#connection.executeQuery<Row>(query);
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      }
      await sleep(pause);
    }
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#connection.streamQuery<Row>(query, chunkSize);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}
