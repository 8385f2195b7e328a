/** Signing in with providers: from the button to the session, and what ends it. */

import { hash } from "node:crypto";
import type { NewConsoleSession } from "../../http/session-cookie.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Executor } from "../../storage/database.ts";
import {
  type AccountTransactions,
  type Actor,
  checkMayGrantEverything,
  countOwners,
  findDefaultOrganization,
  mayStillGrant,
  OPERATOR,
} from "../accounts/index.ts";
import { admitPerson } from "./admit-person.ts";
import { applyRules } from "./group-rules.ts";
import type { Provider } from "./provider.ts";
import type { SessionRenewal } from "./session-renewal.ts";
import type { SignOnSettings } from "./settings.ts";
import { SignOnFailure } from "./sign-on-failure.ts";
import type { UserSessionRow } from "./sign-on-rows.ts";
import {
  beginTransaction,
  type NewTransaction,
  openTransaction,
  sealTransaction,
  type Transaction,
} from "./sign-on-transaction.ts";
import type { UserSessions } from "./user-sessions.ts";

export interface SignOnOptions {
  settings: SignOnSettings;
  providers: ReadonlyMap<string, Provider>;
  keyring: Keyring;
  renewal: SessionRenewal;
  transactions: AccountTransactions;
  sessions: UserSessions;
  logger: Logger;
  now?: () => number;
}

export interface BegunSignOn {
  /** Address at the provider. */
  url: string;
  transaction: Transaction;
  /** What the browser keeps until the provider answers. */
  sealed: string;
}

export class SignOn {
  readonly settings: SignOnSettings;
  readonly #options: SignOnOptions;
  readonly #now: () => number;
  #areRulesApplied = false;
  /** Problems in the log. */
  #reported = "[]";

  constructor(options: SignOnOptions) {
    this.settings = options.settings;
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Providers in the order of the sign-in page. */
  get providers(): readonly Provider[] {
    return [...this.#options.providers.values()];
  }

  provider(id: string): Provider | undefined {
    return this.#options.providers.get(id);
  }

  /** Throws a SignOnFailure when the provider cannot be reached. */
  async begin(provider: Provider, begun: Omit<NewTransaction, "provider">): Promise<BegunSignOn> {
    const transaction = beginTransaction({ ...begun, provider: provider.id }, this.#now());
    const url = await provider.authorizationUrl(transaction);
    return { url: url.href, transaction, sealed: sealTransaction(this.#options.keyring, transaction) };
  }

  /** Opens what the browser kept. Throws a SignOnFailure when it does not belong to the provider's answer. */
  resume(provider: Provider, sealed: string | undefined, state: string | undefined): Transaction {
    const transaction = openTransaction(this.#options.keyring, sealed, {
      provider: provider.id,
      state,
      now: this.#now(),
    });
    if (transaction !== undefined) return transaction;
    throw new SignOnFailure("expired", "This browser has no open sign-in to which the provider's answer belongs.");
  }

  /** Completes a sign-in: the provider's answer becomes a session. Throws a SignOnFailure. */
  async complete(
    actor: Actor,
    provider: Provider,
    transaction: Transaction,
    query: string,
  ): Promise<NewConsoleSession> {
    const { person, sid, issuedAt, tokens } = await provider.complete(query, transaction);
    await this.applyRules();
    const { transactions, sessions, renewal } = this.#options;
    const { settings } = provider;
    // Without the subject, which is personal data: it does not belong into the counters' store.
    const name = hash("sha256", `${settings.issuer}\0${person.subject}`);
    const author = { ...actor, countedAs: `sign-ins of ${name}` as const };
    const session = await transactions.run(author, async (accountTransaction) => {
      const { executor, now } = accountTransaction;
      const organization = await findDefaultOrganization(executor);
      if (organization === undefined) throw new SignOnFailure("no-access", "The service has no organization yet.");
      const organizationId = organization.id;
      const isFirstOwner = await makesFirstOwner(executor, organizationId, transaction, now);
      const { invite } = transaction;
      const { providers } = this.settings;
      const admission = { organizationId, provider: settings, providers, person, isFirstOwner, invite };
      const { user, hasAccess } = await admitPerson(accountTransaction, admission);
      // The user and the groups stay, so that an administrator can find and add the user.
      if (!hasAccess) return undefined;
      return sessions.begin(accountTransaction, {
        user,
        method: "provider",
        provider: {
          ...{ providerId: provider.id, issuer: settings.issuer, subject: person.subject, sid: sid ?? null },
          issuedAt: issuedAt ?? null,
          ...renewal.times(this.#now()),
          seal: (sessionId) => renewal.seal(sessionId, tokens),
        },
      });
    });
    if (session !== undefined) return session;
    const groups = person.groups.slice(0, 10).join(", ");
    const groupReason =
      groups === "" ? `${provider.name} names no group of yours.` : `Your groups at ${provider.name}: ${groups}.`;
    throw new SignOnFailure("no-access", `No role gives you a permission here. ${groupReason}`);
  }

  /** Ends the sessions that a provider's logout token names. Returns how many. Throws a SignOnFailure. */
  async logOut(actor: Actor, provider: Provider, token: string): Promise<number> {
    const logout = await provider.verifyLogoutToken(token);
    return this.#options.sessions.endByLogout(actor, provider.settings.issuer, logout);
  }

  /** Address at the provider that ends the session there, too. */
  endSessionUrl(session: UserSessionRow, returnTo: string): string | undefined {
    const provider = this.provider(session.providerId ?? "");
    const tokens = this.#options.renewal.openTokens(session);
    return tokens && provider?.endSessionUrl(tokens, returnTo);
  }

  /**
   * Gives the groups of the configuration their roles, once per process; again while a rule cannot be applied, such as
   * one for a project that does not exist yet.
   */
  async applyRules(): Promise<void> {
    if (this.#areRulesApplied) return;
    const { transactions, settings, logger } = this.#options;
    const problems = await transactions.run(OPERATOR, async (transaction) => {
      const organization = await findDefaultOrganization(transaction.executor);
      return organization && applyRules(transaction, organization.id, settings.providers);
    });
    this.#areRulesApplied = problems?.length === 0;
    const texts = JSON.stringify(problems ?? []);
    if (texts === this.#reported) return;
    this.#reported = texts;
    for (const problem of problems ?? []) logger.warn(problem, "a rule of sign_on cannot be applied");
  }
}

/** Whether the operator who began the sign-in may still make the person the first owner, and there is no owner yet. */
async function makesFirstOwner(
  executor: Executor,
  organizationId: string,
  { operator }: Transaction,
  now: number,
): Promise<boolean> {
  if (operator === undefined || (await countOwners(executor, organizationId)) > 0) return false;
  return mayStillGrant(executor, organizationId, { ...operator, userId: null, now }, checkMayGrantEverything);
}
