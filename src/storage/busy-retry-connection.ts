import { setTimeout as sleep } from "node:timers/promises";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import { isBusy } from "./errors.ts";

export const MAX_BUSY_MS = 5_000;
const MAX_DELAY_MS = 50;

export interface Clock {
  /** Monotonic, in milliseconds. */
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

export const SYSTEM_CLOCK: Clock = { now: () => performance.now(), sleep };

/** Retries SQLITE_BUSY with backoff while another connection writes, without blocking the event loop. */
export class BusyRetryConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  readonly #clock: Clock;
  #giveUpAt: number;

  /** `requestedAt`: before the wait for the connection, which other waiting queries may hold for as long as they wait. */
  constructor(connection: DatabaseConnection, clock: Clock, requestedAt: number) {
    this.#connection = connection;
    this.#clock = clock;
    this.#giveUpAt = requestedAt + MAX_BUSY_MS;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_DELAY_MS)) {
      try {
        const result = await this.#connection.executeQuery<Row>(query);
        this.#giveUpAt = this.#clock.now() + MAX_BUSY_MS;
        return result;
      } catch (error) {
        if (!isBusy(error) || this.#clock.now() > this.#giveUpAt) throw error;
      }
      await this.#clock.sleep(pause);
    }
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#connection.streamQuery<Row>(query, chunkSize);
  }
}
