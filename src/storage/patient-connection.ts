import { setTimeout as sleep } from "node:timers/promises";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";

const WAIT_AT_MOST_MILLISECONDS = 5_000;
const LONGEST_PAUSE_MILLISECONDS = 50;

/** Tries again while another connection writes, and lets this process do other things in the meantime. */
export class PatientConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const giveUpAt = performance.now() + WAIT_AT_MOST_MILLISECONDS;
    for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MILLISECONDS)) {
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
