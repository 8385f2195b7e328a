import type { Transaction } from "kysely";
import { raiseAccountsVersion } from "../storage/account-changes.ts";
import type { Database } from "../storage/database.ts";
import type { Schema } from "../storage/schema.ts";
import { type Actor, type AuditEvent, recordAudit } from "./audit.ts";

/** One change being made: the transaction it is made in and the one time that it carries. */
export interface Change {
  executor: Transaction<Schema>;
  /** Epoch milliseconds. */
  now: number;
  audit(event: AuditEvent): Promise<void>;
}

/** Makes changes to accounts: one after the other, whole or not at all, and seen by the next request. */
export class AccountChanges {
  readonly database: Database;
  readonly #onMade: () => Promise<void>;

  constructor(database: Database, onMade: () => Promise<void>) {
    this.database = database;
    this.#onMade = onMade;
  }

  async make<Result>(actor: Actor, work: (change: Change) => Promise<Result>): Promise<Result> {
    const result = await this.database.transaction(async (executor) => {
      await raiseAccountsVersion(executor);
      const now = Date.now();
      return work({ executor, now, audit: (event) => recordAudit(executor, actor, event, now) });
    });
    await this.#onMade();
    return result;
  }
}
