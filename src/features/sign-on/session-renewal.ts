/**
 * Renews sessions at their providers while they are in use. A session works for some seconds after each renewal; the
 * database holds that time, so replicas share each renewal.
 */

import { until } from "../../kernel/async/retry.ts";
import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import { type AccountTransactions, findUsersByIds, OPERATOR } from "../accounts/index.ts";
import { admitPerson } from "./admit-person.ts";
import { findProviderGroups, groupsByRules } from "./group-rules.ts";
import type { Provider, ProviderTokens, SignedOn } from "./provider.ts";
import type { SignOnSettings } from "./settings.ts";
import { type FailureReason, SignOnFailure } from "./sign-on-failure.ts";
import type { UserSessionRow } from "./sign-on-rows.ts";
import { claimRenewal, findUserSession, updateUserSession } from "./user-session-queries.ts";
import { endSessions } from "./user-sessions.ts";

/** Sessions work this long after their renewal is due. */
const MARGIN_MS = 15_000;
/** Longer than a renewal takes, with its timeouts. */
const CLAIM_MS = 30_000;
const POLL_MS = 150;
/** Interval of attempts while the provider cannot be reached. */
const RETRY_MS = 10_000;
/** Failures that say nothing about the session: it continues for the grace period. */
const OUTAGES: ReadonlySet<FailureReason> = new Set([
  "provider-unavailable",
  "provider-error",
  "client-refused",
  "bad-signature",
  "clock",
]);

export interface SessionRenewalOptions {
  transactions: AccountTransactions;
  providers: ReadonlyMap<string, Provider>;
  keyring: Keyring;
  settings: Pick<SignOnSettings, "providers" | "renewAfterSeconds" | "outageGraceSeconds">;
  logger: Logger;
  /** Called with the hashes of a session whose times changed. */
  onRenewed: (session: Pick<UserSessionRow, "adminHash" | "projectHash">) => void;
  now?: () => number;
}

export class SessionRenewal {
  readonly #options: SessionRenewalOptions;
  readonly #now: () => number;
  /** By the hash of a session. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: SessionRenewalOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** When a session that was confirmed now is due, and when it stops working. */
  times(now: number): Pick<UserSessionRow, "renewAt" | "validUntil"> {
    const renewAt = now + this.#options.settings.renewAfterSeconds * 1000;
    return { renewAt, validUntil: renewAt + MARGIN_MS };
  }

  seal(sessionId: string, tokens: ProviderTokens): Buffer {
    return this.#options.keyring.encrypt(JSON.stringify(tokens), place(sessionId));
  }

  /** Undefined for a session without tokens, or whose key was removed. */
  openTokens({ id, tokens }: Pick<UserSessionRow, "id" | "tokens">): ProviderTokens | undefined {
    if (tokens === null) return undefined;
    try {
      return JSON.parse(this.#options.keyring.decrypt(tokens, place(id)));
    } catch (failure) {
      if (failure instanceof DecryptionError) return undefined;
      throw failure;
    }
  }

  /**
   * Renews the session with this hash, if it is due. Throws a Fault when the session pauses because its provider cannot
   * be reached; afterwards, an ended session no longer exists.
   */
  async renew(hash: string): Promise<void> {
    const running = this.#running.get(hash) ?? this.#renew(hash).finally(() => this.#running.delete(hash));
    this.#running.set(hash, running);
    await running;
  }

  async #renew(hash: string): Promise<void> {
    const { transactions, providers, onRenewed } = this.#options;
    const { database } = transactions;
    const session = await database.run((executor) => findUserSession(executor, hash));
    if (session === undefined || session.providerId === null) return;
    const now = this.#now();
    if (session.expiresAt <= now) return;
    if (session.renewAt > now) {
      // Another replica renewed it, or an attempt failed a moment ago.
      if (session.validUntil <= now) throw paused(session.renewAt - now);
      return onRenewed(session);
    }
    const claimed = await database.run((executor) => claimRenewal(executor, session, now, now + CLAIM_MS));
    if (!claimed) return this.#awaitOther(hash, session);
    const provider = providers.get(session.providerId);
    const tokens = this.openTokens(session);
    if (provider === undefined || tokens === undefined || session.subject === null) {
      return this.#end(session, "its provider is no longer configured, or its tokens cannot be decrypted");
    }
    const signedOn = await provider.renew(tokens, session.subject).catch((failure: unknown) => failure);
    if (signedOn instanceof Error) return this.#fail(session, signedOn);
    await this.#confirm(session, provider, signedOn as SignedOn);
  }

  async #confirm(session: UserSessionRow, provider: Provider, { person, tokens }: SignedOn): Promise<void> {
    const { transactions, settings, onRenewed } = this.#options;
    const now = this.#now();
    const { renewAt, validUntil } = this.times(now);
    const change = {
      renewAt,
      validUntil: Math.min(validUntil, session.expiresAt),
      checkedAt: now,
      renewingUntil: null,
      tokens: this.seal(session.id, tokens),
    };
    const groups = groupsByRules(provider.settings, person.groups);
    const [user] = await transactions.database.run((executor) => findUsersByIds(executor, [session.userId]));
    if (user === undefined) return;
    const previous = await transactions.database.run((executor) =>
      findProviderGroups(executor, user.id, provider.settings),
    );
    const isSame =
      new Set([...previous, ...groups]).size === new Set(previous).size && previous.length === groups.length;
    if (isSame && user.disabledAt === null) {
      await transactions.database.run((executor) => updateUserSession(executor, session.id, change));
      return onRenewed(session);
    }
    const { organizationId } = user;
    const { providers } = settings;
    const admission = { organizationId, provider: provider.settings, providers, person, isFirstOwner: false };
    const failure = await transactions
      .run(OPERATOR, async (transaction) => {
        const { hasAccess } = await admitPerson(transaction, admission);
        if (hasAccess) await updateUserSession(transaction.executor, session.id, change);
        else await endSessions(transaction, [session], "no role gives the user a permission any more");
      })
      .catch((error: unknown) => error);
    if (failure instanceof SignOnFailure) return this.#end(session, failure.message);
    if (failure instanceof Error) throw failure;
  }

  async #fail(session: UserSessionRow, failure: Error): Promise<void> {
    const { transactions, settings, logger, onRenewed } = this.#options;
    if (failure instanceof SignOnFailure && !OUTAGES.has(failure.reason)) return this.#end(session, failure.message);
    if (!(failure instanceof SignOnFailure)) throw failure;
    const now = this.#now();
    const pausesAt = session.checkedAt + (settings.renewAfterSeconds + settings.outageGraceSeconds) * 1000;
    const renewAt = now + RETRY_MS;
    const validUntil = pausesAt > now ? Math.max(session.validUntil, Math.min(renewAt + MARGIN_MS, pausesAt)) : now;
    const change = { renewAt, validUntil: Math.min(validUntil, session.expiresAt), renewingUntil: null };
    await transactions.database.run((executor) => updateUserSession(executor, session.id, change));
    const { providerId } = session;
    logger.warn({ provider: providerId, error: failure.message }, "a session could not be renewed at its provider");
    if (validUntil <= now) throw paused(RETRY_MS);
    onRenewed(session);
  }

  async #end(session: UserSessionRow, reason: string): Promise<void> {
    await this.#options.transactions.run(OPERATOR, (transaction) => endSessions(transaction, [session], reason));
  }

  /** Another process renews the session with the same tokens, which work once. */
  async #awaitOther(hash: string, { renewAt, validUntil }: UserSessionRow): Promise<void> {
    const { transactions, onRenewed } = this.#options;
    const isWorking = validUntil > this.#now();
    // In the background, there is nothing to wait for.
    if (isWorking) return;
    const renewed = async () => {
      const session = await transactions.database.run((executor) => findUserSession(executor, hash));
      return (session?.renewAt !== renewAt || session.renewingUntil === null) && { session };
    };
    const ended = await until(renewed, { everyMs: POLL_MS, timeoutMs: CLAIM_MS });
    if (ended === undefined) throw paused(RETRY_MS);
    const { session } = ended;
    if (session === undefined) return;
    if (session.validUntil <= this.#now()) throw paused(RETRY_MS);
    onRenewed(session);
  }
}

function place(sessionId: string): string {
  return `user session ${sessionId}`;
}

function paused(ms: number): Fault {
  const message =
    "Your sign-on provider cannot be reached, so your session is paused. It continues when the provider answers again; API keys go on working.";
  const retryAfterSeconds = Math.max(1, Math.ceil(ms / 1000));
  return new Fault("unavailable", message, { code: "provider_unavailable", retryAfterSeconds });
}
