/** Export and erasure of what is stored of a person. */

import { allows, isSelf } from "../../http/access.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Executor } from "../../storage/database.ts";
import type { AllPersonalData, Person, PersonalContext } from "../../storage/personal-data.ts";
import { isSessionId } from "../../wire/openai/organization/organization-audit-logs.ts";
import {
  type AccountTransactions,
  type Actor,
  type Author,
  checkMayManageUser,
  checkNotLastOwner,
  endApiKeysOfUser,
  findExistingUser,
  OPERATOR,
  type UserReference,
  type UserRow,
  updateUser,
} from "../accounts/index.ts";
import { endUserAsPerson, userAsPerson } from "./find-person.ts";
import { type AnyRegistration, eraseTable, readTable } from "./personal-rows.ts";

export interface PrivacyOptions {
  transactions: AccountTransactions;
  tables: AllPersonalData;
  context: PersonalContext;
  logger: Logger;
  /** Writes usage and requests that are still in memory. */
  flush: () => Promise<void>;
  /** Resolves once requests of keys that were revoked before have ended, and are written, at every replica. */
  untilWritten: () => Promise<void>;
}

/** A row of an export with the name of its table. */
export interface ExportedRow {
  table: string;
  row: object;
}

export interface Erasure {
  /** Replaces the person where rows remain. */
  pseudonym: string;
  /** Rows that were deleted or changed, by table. */
  rows: Readonly<Record<string, number>>;
}

export class Privacy {
  readonly #options: PrivacyOptions;

  constructor(options: PrivacyOptions) {
    this.#options = options;
  }

  /** Returns the rows of a user. Throws a Fault when there is no such user, or the author has less access than the user. */
  async exportUser(author: Author, reference: UserReference): Promise<AsyncGenerator<ExportedRow>> {
    const { transactions } = this.#options;
    const person = await transactions.run(author, async ({ executor, audit }) => {
      const user = await findManagedUser(executor, author, reference);
      const { organizationId } = user;
      await audit({ type: "user.exported", organizationId, resourceId: user.id, details: {} });
      const person = await userAsPerson(executor, user);
      // People choose their names, and with them which texts of others name them.
      const quotations = allows(author.access, "organization.users.data") ? person.quotations : [];
      return { ...person, quotations, isAuthor: isSignedIn(author, user) };
    });
    await this.#options.flush();
    return this.#read(person);
  }

  /** Returns the rows of the end user of an application. */
  async exportEndUser(author: Author, organizationId: string, endUser: string): Promise<AsyncGenerator<ExportedRow>> {
    await this.#options.transactions.run(author, ({ audit }) =>
      // Without the end user: an erasure could not find the entry.
      audit({ type: "user.exported", organizationId, resourceId: "end_user", details: {} }),
    );
    await this.#options.flush();
    return this.#read(endUserAsPerson(organizationId, endUser));
  }

  /**
   * Erases a user. Sessions and keys stop working first; the user's row is deleted last, so that an erasure that was
   * interrupted can be repeated. Throws a Fault like `exportUser`, and for the last owner.
   */
  async eraseUser(author: Author, reference: UserReference): Promise<Erasure> {
    const { transactions } = this.#options;
    const person = await transactions.run(author, async ({ executor, now }) => {
      const user = await findManagedUser(executor, author, reference);
      await checkNotLastOwner(executor, user);
      await endApiKeysOfUser(executor, user.id, now);
      await updateUser(executor, user.id, { disabledAt: user.disabledAt ?? now });
      return userAsPerson(executor, user);
    });
    const { user, caller } = person.identifiers;
    // Without a key or a session, nothing of the user runs.
    if (caller.length > user.length) await this.#options.untilWritten();
    return this.#erase(author, person);
  }

  /** Erases the end user of an application. Sums of usage remain, under a pseudonym. */
  async eraseEndUser(author: Author, organizationId: string, endUser: string): Promise<Erasure> {
    await this.#options.transactions.checkAuthor(author);
    return this.#erase(author, endUserAsPerson(organizationId, endUser));
  }

  async *#read(person: Person): AsyncGenerator<ExportedRow> {
    const { tables, context } = this.#options;
    for (const [table, registration] of Object.entries<AnyRegistration>(tables)) {
      for await (const row of readTable(table, registration, context, person)) yield { table, row };
    }
  }

  async #erase(author: Author, person: Person): Promise<Erasure> {
    const { tables, context, logger, transactions, flush } = this.#options;
    const { pseudonym, organizationId } = person;
    await flush();
    const rows: Record<string, number> = {};
    for (const [table, registration] of Object.entries<AnyRegistration>(tables)) {
      const erased = await eraseTable(table, registration, context, person);
      if (erased > 0) rows[table] = erased;
    }
    await context.database.emptyLog();
    const isErased = author.userId !== undefined && person.identifiers.user.includes(author.userId);
    const actor: Actor = isErased ? { ...OPERATOR, userId: pseudonym } : author;
    await transactions.record(actor, { type: "user.erased", organizationId, resourceId: pseudonym, details: { rows } });
    logger.info({ pseudonym, rows }, "person erased");
    return { pseudonym, rows };
  }
}

/** Whether the author is the user, signed in; not one of the user's keys, which programs have. */
function isSignedIn({ userId, keyId }: Author, user: UserRow): boolean {
  return userId === user.id && keyId !== undefined && isSessionId(keyId);
}

async function findManagedUser(executor: Executor, author: Author, reference: UserReference): Promise<UserRow> {
  const user = await findExistingUser(executor, reference);
  if (!isSelf(author, user.id)) await checkMayManageUser(executor, author, user);
  return user;
}
