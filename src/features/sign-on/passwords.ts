/** Users who sign in with a password of this service: for those without a provider. */

import { hash } from "node:crypto";
import type { NewConsoleSession } from "../../http/session-cookie.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { Secret } from "../../kernel/secret.ts";
import {
  type AccountTransaction,
  type AccountTransactions,
  type Actor,
  type Author,
  acceptInvite,
  addUser,
  checkMayGrantEverything,
  checkMayManageUser,
  countOwners,
  findDefaultOrganization,
  findUser,
  findUserByEmail,
  findUsersByIds,
  type Invites,
  mayStillGrant,
  newSessionToken,
  type UserReference,
  type UserRow,
} from "../accounts/index.ts";
import type { PasswordAttempts } from "../quota/index.ts";
import { type Providers, refuseLocalAccess } from "./local-access.ts";
import { hashPassword, verifyPassword } from "./password-hash.ts";
import {
  deletePasswordLinks,
  findPassword,
  findPasswordLink,
  hasAnyPassword,
  putPassword,
  putPasswordLink,
} from "./password-queries.ts";
import type { UserPasswordRow, UserSessionRow } from "./sign-on-rows.ts";
import { findSessionsOfUser } from "./user-session-queries.ts";
import { endSessions, type UserSessions } from "./user-sessions.ts";

/** NIST SP 800-63B-4, 3.1.1.2, asks for 15 characters where the password is the only factor. */
export const MIN_PASSWORD_LENGTH = 15;
const MAX_PASSWORD_LENGTH = 256;
const LINK_MS = DAY_MS;

export interface PasswordsOptions {
  transactions: AccountTransactions;
  sessions: UserSessions;
  attempts: PasswordAttempts;
  invites: Invites;
  /** Those of the configuration, whose people have no passwords. */
  providers: Providers;
  /** False where a provider is required. */
  isAllowed: boolean;
}

export interface NewOwner {
  email: string;
  name: string;
  password: Secret;
}

/** A password that was right, by its hash. */
type Verified = Pick<UserPasswordRow, "userId" | "hash">;

export class Passwords {
  readonly #options: PasswordsOptions;

  constructor(options: PasswordsOptions) {
    this.#options = options;
  }

  get isAllowed(): boolean {
    return this.#options.isAllowed;
  }

  /** Whether anybody has a password; true while the database cannot say. */
  async areInUse(): Promise<boolean> {
    const { isAllowed, transactions } = this.#options;
    return isAllowed && transactions.database.run(hasAnyPassword).catch(() => true);
  }

  /** Throws a Fault for a wrong password, a disabled user, or after too many failures. */
  async signIn(actor: Actor, email: string, password: Secret): Promise<NewConsoleSession> {
    this.#checkAllowed();
    const { transactions, sessions, attempts } = this.#options;
    const verified = await attempts.try(email, actor.ipAddress ?? "", () => this.#verify(email, password));
    if (verified === undefined) throw wrongPassword();
    return transactions.run(signingIn(actor, verified), async (transaction) => {
      const user = await this.#requireVerified(transaction, verified);
      return sessions.begin(transaction, { user, method: "password" });
    });
  }

  /**
   * Creates a link with which a user sets a password, once, within a day. Throws a Fault for an unknown user, for one who
   * may do more than the author, and for one who signs in with a provider.
   */
  async createLink(author: Author, reference: UserReference): Promise<Secret> {
    this.#checkAllowed();
    const token = newSessionToken();
    await this.#options.transactions.run(author, async ({ executor, now, audit }) => {
      const user = await findUser(executor, reference);
      if (user === undefined) throw new Fault("not-found", `There is no user \`${reference.id.slice(0, 100)}\`.`);
      await checkMayManageUser(executor, author, user);
      await refuseLocalAccess(executor, user, this.#options.providers);
      const tokenHash = hashLinkToken(token.reveal());
      // Without the session: the link is for somebody else, and outlasts its author's sign-out, as an invite does.
      const { userId: createdBy = null, keyId: createdByKey = null } = author;
      const link = { tokenHash, userId: user.id, createdAt: now, expiresAt: now + LINK_MS, createdBy, createdByKey };
      await putPasswordLink(executor, link);
      const details = { passwordLink: "created" };
      await audit({ type: "user.updated", organizationId: user.organizationId, resourceId: user.id, details });
    });
    return token;
  }

  /** Sets the password of a link's user, whose earlier sessions end, and signs the user in. Throws a Fault. */
  async setByLink(actor: Actor, token: string, password: Secret): Promise<NewConsoleSession> {
    this.#checkAllowed();
    checkPassword(password);
    const { transactions } = this.#options;
    const tokenHash = hashLinkToken(token);
    const exists = await transactions.database.run((executor) => findPasswordLink(executor, tokenHash));
    if (exists === undefined) throw usedLink();
    const passwordHash = await hashPassword(password);
    return transactions.run(actor, async (transaction) => {
      const { executor, now } = transaction;
      const link = await findPasswordLink(executor, tokenHash);
      const [user] = link === undefined ? [] : await findUsersByIds(executor, [link.userId]);
      if (link === undefined || user === undefined || link.expiresAt <= now) throw usedLink();
      const author = { userId: link.createdBy ?? null, keyId: link.createdByKey ?? null, now };
      const mayGive = await mayStillGrant(executor, user.organizationId, author, (each) =>
        checkMayManageUser(executor, each, user),
      );
      if (!mayGive) throw usedLink();
      if (user.disabledAt !== null) throw disabled();
      await refuseLocalAccess(executor, user, this.#options.providers);
      return this.#set(transaction, user, passwordHash);
    });
  }

  /** Changes the password of a session's user, whose other sessions end. Throws a Fault for a wrong current one. */
  async change(actor: Actor, { userId }: UserSessionRow, current: Secret, next: Secret): Promise<NewConsoleSession> {
    this.#checkAllowed();
    checkPassword(next);
    const { transactions, attempts } = this.#options;
    const [user] = await transactions.database.run((executor) => findUsersByIds(executor, [userId]));
    if (user === undefined) throw wrongPassword();
    const verified = await attempts.try(user.email, actor.ipAddress ?? "", () => this.#verify(user.email, current));
    if (verified === undefined) throw wrongPassword();
    const passwordHash = await hashPassword(next);
    return transactions.run(signingIn(actor, verified), async (transaction) =>
      this.#set(transaction, await this.#requireVerified(transaction, verified), passwordHash),
    );
  }

  /**
   * Adds the first owner with a password. Throws a Fault when the organization has an owner, and unless the author may do
   * everything.
   */
  async addFirstOwner(author: Author, { email, name, password }: NewOwner): Promise<NewConsoleSession> {
    this.#checkAllowed();
    checkMayGrantEverything(author);
    checkPassword(password);
    const passwordHash = await hashPassword(password);
    return this.#options.transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      const organization = await findDefaultOrganization(executor);
      if (organization === undefined) throw new Fault("unavailable", "The service is starting. Try again in a moment.");
      const organizationId = organization.id;
      if ((await countOwners(executor, organizationId)) > 0) {
        throw new Fault("conflict", "The organization has an owner already, who can invite you.");
      }
      const user = await addUser(transaction, { organizationId, email, name, role: "owner" });
      return this.#set(transaction, user, passwordHash);
    });
  }

  /** Accepts an invite with a password. Throws a Fault for a wrong, used or expired token. */
  async acceptInvite(
    actor: Actor,
    accepted: { token: string; name: string; password: Secret },
  ): Promise<NewConsoleSession> {
    this.#checkAllowed();
    const { token, name, password } = accepted;
    checkPassword(password);
    const { transactions, invites } = this.#options;
    // Checked first, because the hash takes time.
    const { email } = await invites.check(token);
    const passwordHash = await hashPassword(password);
    return transactions.run(actor, async (transaction) => {
      const user = await acceptInvite(transaction, { token, email, name });
      return this.#set(transaction, user, passwordHash);
    });
  }

  async hasPassword({ userId }: UserSessionRow): Promise<boolean> {
    const { database } = this.#options.transactions;
    return (await database.run((executor) => findPassword(executor, userId))) !== undefined;
  }

  async #set(transaction: AccountTransaction, user: UserRow, passwordHash: string): Promise<NewConsoleSession> {
    const { executor, now, audit } = transaction;
    await deletePasswordLinks(executor, user.id, now);
    await putPassword(executor, { userId: user.id, hash: passwordHash, changedAt: now });
    const { id, organizationId } = user;
    await audit({ type: "user.updated", organizationId, resourceId: id, details: { password: "set" } });
    await endSessions(transaction, await findSessionsOfUser(executor, user.id), "another password was set");
    return this.#options.sessions.begin(transaction, { user, method: "password" });
  }

  async #verify(email: string, password: Secret): Promise<Verified | undefined> {
    const { database } = this.#options.transactions;
    const entry = await database.run(async (executor) => {
      const organization = await findDefaultOrganization(executor);
      const user = organization && (await findUserByEmail(executor, organization.id, email));
      return user && { user, stored: await findPassword(executor, user.id) };
    });
    return (await verifyPassword(password, entry?.stored?.hash)) ? entry?.stored : undefined;
  }

  /**
   * Returns the user. Throws a Fault where the password was changed or ended, or the user disabled, while it was
   * verified, and for a user who signs in with a provider.
   */
  async #requireVerified({ executor }: AccountTransaction, { userId, hash: verified }: Verified): Promise<UserRow> {
    const [user] = await findUsersByIds(executor, [userId]);
    if (user === undefined || (await findPassword(executor, userId))?.hash !== verified) throw wrongPassword();
    if (user.disabledAt !== null) throw disabled();
    await refuseLocalAccess(executor, user, this.#options.providers);
    return user;
  }

  #checkAllowed(): void {
    if (this.#options.isAllowed) return;
    const message = "People sign in here with a provider only (`sign_on.required`).";
    throw new Fault("forbidden", message, { code: "sign_on_required" });
  }
}

/** Author of a session that begins with a password, which is counted: nothing else bounds how often a right one is used. */
function signingIn(actor: Actor, { userId }: Verified): Actor {
  return { ...actor, userId, countedAs: `sign-ins of ${userId}` };
}

function checkPassword(password: Secret): void {
  const { length } = [...password.reveal()];
  if (length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH) return;
  const message = `The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters; several words are easy to remember.`;
  throw invalidRequest(message, "password");
}

function hashLinkToken(token: string): string {
  return hash("sha256", `password link\0${token}`);
}

function disabled(): Fault {
  return new Fault("forbidden", "Your account is disabled. Ask your administrator.");
}

function wrongPassword(): Fault {
  const message = "The address or the password is wrong.";
  return new Fault("unauthenticated", message, { code: "wrong_password" });
}

function usedLink(): Fault {
  const message =
    "This link was used already, has expired, or its author may no longer create it. Ask your administrator for another one.";
  return new Fault("unauthenticated", message, { code: "invalid_password_link" });
}
