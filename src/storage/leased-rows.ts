/** Rows that replicas lease one from the other, by the database's clock: jobs, deliveries and e-mails. */

import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";
import type { Schema } from "./schema.ts";

/** Tables with `dueAt`: end of a row's lease, or the time from which it is due. */
type LeasedTable = {
  [Name in keyof Schema]: Schema[Name] extends { dueAt: number } ? Name : never;
}[keyof Schema] &
  string;
type Column<Name extends LeasedTable> = keyof Schema[Name] & string;

export interface LeasedRowsOptions<Name extends LeasedTable> {
  table: Name;
  /** Unique column. */
  key: Column<Name>;
  /** Column that changes with each lease, so that an earlier process can no longer write: an ID, or a count of leases. */
  owner: { id: Column<Name> } | { count: Column<Name> };
  /** Condition of rows that have not ended; left out: rows are deleted at their end. */
  open?: RawBuilder<boolean>;
  /** What else a lease changes, and, when it is released, changes back. */
  set?: RawBuilder<unknown>;
  unset?: RawBuilder<unknown>;
  /** Condition of rows that are due within a second when they are released, whatever their delay. */
  urgent?: RawBuilder<boolean>;
  /** Whether leases of an earlier process end with the first claim, where the database has one process only. */
  endsEarlierLeases?: boolean;
  /** Order in which rows are leased; default: when they were due. */
  orderBy?: RawBuilder<unknown>;
}

/** Not at once: what failed would be leased again without a pause. */
const MAX_URGENT_DELAY_MS = 1_000;

export class LeasedRows<Name extends LeasedTable, Row = Schema[Name]> {
  readonly #database: Database;
  readonly #options: LeasedRowsOptions<Name>;
  #hasEndedEarlier: boolean;

  constructor(database: Database, options: LeasedRowsOptions<Name>) {
    this.#database = database;
    this.#options = options;
    this.#hasEndedEarlier = options.endsEarlierLeases !== true || database.kind !== "sqlite";
  }

  /** Leases rows that are due, of those that `where` selects. Fewer than `limit` if another replica was faster. */
  async claim({
    limit,
    leaseMs,
    where = sql`1 = 1`,
  }: {
    limit: number;
    leaseMs: number;
    where?: RawBuilder<unknown>;
  }): Promise<Row[]> {
    await this.endEarlierLeases();
    const { table, key, owner, orderBy = sql.ref("dueAt"), set } = this.#options;
    const isDue = sql`${sql.ref("dueAt")} <= ${this.#database.now} and ${this.#open}`;
    const first = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${isDue} and ${where} order by ${orderBy} limit ${limit}`;
    const taken =
      "id" in owner
        ? sql`${sql.ref(owner.id)} = ${randomUUID()}`
        : sql`${sql.ref(owner.count)} = ${sql.ref(owner.count)} + 1`;
    // PostgreSQL checks the condition again after waiting for another replica that leases the same row.
    const query = sql<Row>`update ${sql.table(table)} set ${sql.join([taken, this.#dueIn(leaseMs), ...(set ? [set] : [])])} where ${sql.ref(key)} in (${first}) and ${isDue} returning *`;
    return (await this.#database.run((executor) => query.execute(executor))).rows;
  }

  /** Extends the lease. Returns false when the row has ended or another process has it. */
  async renew(row: Row, leaseMs: number): Promise<boolean> {
    return this.#update(row, [this.#dueIn(leaseMs)]);
  }

  /** Ends the lease: the row is due again after `delayMs`, with 0 as if it had never been leased. Returns false as `renew`. */
  async release(row: Row, delayMs: number): Promise<boolean> {
    const { unset, urgent = sql`1 = 0` } = this.#options;
    const { now } = this.#database;
    const soon = sql`${now} + ${Math.min(delayMs, MAX_URGENT_DELAY_MS)}`;
    const due = delayMs === 0 ? sql`0` : sql`case when ${urgent} then ${soon} else ${now} + ${delayMs} end`;
    return this.#update(row, [sql`${sql.ref("dueAt")} = ${due}`, ...(unset ? [unset] : [])]);
  }

  /** Ends the leases of an earlier process, once, where `endsEarlierLeases` says so; `claim` does it, too. */
  async endEarlierLeases(): Promise<void> {
    if (this.#hasEndedEarlier) return;
    const query = sql`update ${sql.table(this.#options.table)} set ${sql.ref("dueAt")} = 0 where ${this.#open}`;
    await this.#database.run((executor) => query.execute(executor));
    this.#hasEndedEarlier = true;
  }

  async #update(row: Row, changes: readonly RawBuilder<unknown>[]): Promise<boolean> {
    const { table, key, owner } = this.#options;
    const column = "id" in owner ? owner.id : owner.count;
    const values = row as Record<string, unknown>;
    const query = sql`update ${sql.table(table)} set ${sql.join(changes)} where ${sql.ref(key)} = ${values[key]} and ${sql.ref(column)} = ${values[column]} and ${this.#open}`;
    const { numAffectedRows } = await this.#database.run((executor) => query.execute(executor));
    return (numAffectedRows ?? 0n) > 0n;
  }

  get #open(): RawBuilder<unknown> {
    return this.#options.open ?? sql`1 = 1`;
  }

  #dueIn(delayMs: number): RawBuilder<unknown> {
    return sql`${sql.ref("dueAt")} = ${this.#database.now} + ${delayMs}`;
  }
}
