import type { Transaction } from "kysely";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/schema.ts";
import { incrementAccountsVersion } from "./accounts-version.ts";
import { type Actor, type AuditEvent, recordAudit } from "./audit/audit.ts";
import type { AccountExtensions } from "./extensions.ts";
import { checkAuthor } from "./roles/check-author.ts";
import { RowChanges } from "./row-changes.ts";

/** Database transaction of one change to accounts, with the timestamp that everything in it carries. */
export interface AccountTransaction {
  executor: Transaction<Schema>;
  /** Epoch milliseconds. */
  now: number;
  audit(event: AuditEvent): Promise<void>;
  /** What features do in transactions of accounts. */
  extensions: AccountExtensions;
}

/** Runs changes to accounts one after the other, each in one transaction, and reloads the cached keys after a change. */
export class AccountTransactions {
  readonly database: Database;
  readonly extensions: AccountExtensions;
  readonly #onCommit: () => Promise<void>;
  readonly #countSelfService: ((name: string) => Promise<void>) | undefined;

  constructor(
    database: Database,
    extensions: AccountExtensions,
    onCommit: () => Promise<void>,
    countSelfService?: (name: string) => Promise<void>,
  ) {
    this.database = database;
    this.extensions = extensions;
    this.#onCommit = onCommit;
    this.#countSelfService = countSelfService;
  }

  /**
   * Throws a Fault if the author lost the key, session or a permission, also while the change waited for those before it,
   * and for an author who changed too much of their own already.
   */
  async run<Result>(actor: Actor, work: (transaction: AccountTransaction) => Promise<Result>): Promise<Result> {
    // Before the lock, for which everybody else's changes and sign-ins would wait.
    if (actor.countedAs !== undefined) await this.#countSelfService?.(actor.countedAs);
    return await this.#run(actor, async (transaction) => {
      await checkAuthor(transaction.executor, actor);
      return await work(transaction);
    });
  }

  /** Throws a Fault like `run`, right before a change that is in no transaction. */
  async checkAuthor(actor: Actor): Promise<void> {
    await this.database.run((executor) => checkAuthor(executor, actor));
  }

  /** Records what has been done already, whatever has become of the author since. */
  async record(actor: Actor, event: AuditEvent): Promise<void> {
    await this.#run(actor, ({ audit }) => audit(event));
  }

  async #run<Result>(actor: Actor, work: (transaction: AccountTransaction) => Promise<Result>): Promise<Result> {
    try {
      const result = await this.database.transaction((executor) => this.#change(executor, actor, work));
      await this.#onCommit();
      return result;
    } catch (outcome) {
      if (outcome instanceof Unchanged) return outcome.result as Result;
      throw outcome;
    }
  }

  /** Throws Unchanged, which takes the increment back, after work without a change: the version makes all replicas read. */
  async #change<Result>(
    transaction: Transaction<Schema>,
    actor: Actor,
    work: (transaction: AccountTransaction) => Promise<Result>,
  ): Promise<Result> {
    await incrementAccountsVersion(transaction);
    const changes = new RowChanges();
    const executor = transaction.withPlugin(changes);
    const now = Date.now();
    const { extensions } = this;
    const audit = async (event: AuditEvent) => {
      await recordAudit(executor, actor, event, now);
      await extensions.onAudited?.(executor, event, now);
    };
    const result = await work({ executor, now, audit, extensions });
    if (!changes.isAny) throw new Unchanged(result);
    return result;
  }
}

/** Rolls a transaction back that changed nothing. */
class Unchanged extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("the transaction changed nothing");
    this.result = result;
  }
}
