import type { Transaction } from "kysely";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/schema.ts";
import { incrementAccountsVersion } from "./accounts-version.ts";
import { type Actor, type AuditEvent, recordAudit } from "./audit/audit.ts";
import type { AccountExtensions } from "./extensions.ts";

/** Database transaction of one change to accounts, with the timestamp that everything in it carries. */
export interface AccountTransaction {
  executor: Transaction<Schema>;
  /** Epoch milliseconds. */
  now: number;
  audit(event: AuditEvent): Promise<void>;
  /** What features do in transactions of accounts. */
  extensions: AccountExtensions;
}

/** Runs changes to accounts one after the other, each in one transaction, and reloads the cached keys after it. */
export class AccountTransactions {
  readonly database: Database;
  readonly extensions: AccountExtensions;
  readonly #onCommit: () => Promise<void>;

  constructor(database: Database, extensions: AccountExtensions, onCommit: () => Promise<void>) {
    this.database = database;
    this.extensions = extensions;
    this.#onCommit = onCommit;
  }

  async run<Result>(actor: Actor, work: (transaction: AccountTransaction) => Promise<Result>): Promise<Result> {
    const result = await this.database.transaction(async (executor) => {
      await incrementAccountsVersion(executor);
      const now = Date.now();
      const { extensions } = this;
      const audit = async (event: AuditEvent) => {
        await recordAudit(executor, actor, event, now);
        await extensions.onAudited?.(executor, event, now);
      };
      return work({ executor, now, audit, extensions });
    });
    await this.#onCommit();
    return result;
  }
}
