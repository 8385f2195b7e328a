/** Sessions of the console: a random token in a cookie stands for a key, which the browser never stores. */

import { hash, randomBytes } from "node:crypto";
import type { Caller } from "../../../contracts/caller.ts";
import type { NewConsoleSession } from "../../../http/session-cookie.ts";
import { HOUR_MS } from "../../../kernel/durations.ts";
import { Fault, unavailable } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import { Secret } from "../../../kernel/secret.ts";
import type { Executor } from "../../../storage/database.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import type { Actor } from "../audit/audit.ts";
import { findLastingApiKey } from "../keys/api-key-queries.ts";
import { findDefaultOrganization } from "../organizations/organization-queries.ts";
import { findDefaultProject } from "../projects/project-queries.ts";
import { checkMayGrantEverything, isUnrestricted, mayStillGrant } from "../roles/may-grant.ts";
import {
  findConsoleGrants,
  type GrantedKey,
  insertConsoleGrant,
  removeConsoleSession,
  removeExpiredConsoleGrants,
  removeOldestConsoleSessions,
} from "./console-grant-queries.ts";
import type { ConsoleGrantRow, SessionTimes } from "./console-grant-rows.ts";

const SESSION_MS = 12 * HOUR_MS;
const CODE_MS = HOUR_MS;
/** A further session ends the key's oldest one. */
const MAX_SESSIONS_PER_KEY = 50;
const TOKEN_BYTES = 32;
/** No token or code is longer; longer ones are refused without hashing. */
const MAX_TOKEN_LENGTH = 64;

const KINDS = ["admin", "project"] as const;

type Key = Pick<GrantedKey, "id" | "kind" | "organizationId">;

export class ConsoleSessions {
  readonly #transactions: AccountTransactions;
  /** Unused sign-in codes of this process, by their hashes. */
  readonly #codes = new Map<string, { id: string; expiresAt: number } & Pick<Actor, "keyId">>();

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /**
   * Creates a code that signs in once, within an hour and at this process only, with the operator's own keys. Throws a
   * Fault unless the author is the operator: whoever signs in has no name and no list of permissions any more, and outlasts
   * the user or key. Throws one for a session, too: with codes, it would prolong itself without end.
   */
  async createSignInCode(author: Actor): Promise<Secret> {
    if (author.sessionId !== undefined) throw needsKey();
    if (!isUnrestricted({ ...author, kind: "admin" })) throw notOperator();
    const id = newId("code_");
    const expiresAt = await this.#transactions.run(author, async ({ executor, now, audit }) => {
      const organization = await findDefaultOrganization(executor);
      if (organization === undefined) throw starting();
      const details = { expiresAt: now + CODE_MS };
      const { id: organizationId } = organization;
      await audit({ type: "console_sign_in_code.created", organizationId, resourceId: id, details });
      return details.expiresAt;
    });
    for (const [codeHash, entry] of this.#codes) if (entry.expiresAt <= Date.now()) this.#codes.delete(codeHash);
    const code = newSessionToken();
    this.#codes.set(hashToken("code", code.reveal()), { id, expiresAt, keyId: author.keyId });
    return code;
  }

  /** Uses up a code. Throws a Fault for a wrong, used or expired one, and when its author may no longer do everything. */
  async signInWithCode(actor: Actor, code: string): Promise<NewConsoleSession> {
    const codeHash = code.length > MAX_TOKEN_LENGTH ? "" : hashToken("code", code);
    const entry = this.#codes.get(codeHash);
    this.#codes.delete(codeHash);
    if (entry === undefined || entry.expiresAt <= Date.now()) throw usedCode();
    const { id: codeId, keyId } = entry;
    return this.#transactions.run(actor, async (transaction) => {
      const { executor, now } = transaction;
      const organization = await findDefaultOrganization(executor);
      const author = { userId: null, keyId: keyId ?? null, now };
      if (organization === undefined) throw usedCode();
      if (!(await mayStillGrant(executor, organization.id, author, checkMayGrantEverything))) throw usedCode();
      return begin(transaction, await operatorKeys(transaction, organization.id), { method: "link", codeId });
    });
  }

  /**
   * Creates a session for a key that was authenticated. The key replaces one of its kind in the session of `previous`,
   * whose token stops working; the other key stays, for as long as it would have, if it belongs to the same organization.
   */
  async signIn(actor: Actor, caller: Caller, previous: string | undefined): Promise<NewConsoleSession> {
    if (caller.isOperator)
      throw new Fault("unauthenticated", "A command's temporary key cannot sign in to the console.");
    const author = { ...actor, keyId: caller.keyId, countedAs: `sign-ins of ${caller.keyId}` as const };
    return this.#transactions.run(author, async (transaction) => {
      const key = { id: caller.keyId, kind: caller.kind, organizationId: caller.organizationId };
      const ended = await this.#end(transaction, previous);
      const staying = ended.filter(
        ({ kind, organizationId }) => kind !== key.kind && organizationId === key.organizationId,
      );
      return begin(transaction, [key], { method: "key" }, staying);
    });
  }

  /** Ends the session of this token, if there is one. */
  async signOut(actor: Actor, token: string): Promise<void> {
    // Anybody may send a token: one without a session must not make changes to accounts wait.
    const grants = await this.#transactions.database.run((executor) => findGrants(executor, token));
    if (grants.length === 0) return;
    await this.#transactions.run(actor, async (transaction) => {
      for (const { id, kind, organizationId } of await this.#end(transaction, token)) {
        const details = { keyId: id, kind };
        await transaction.audit({ type: "logout.succeeded", organizationId, resourceId: id, details });
      }
    });
  }

  /** Removes the session of a token and returns its keys that exist, without those for which it has expired. */
  async #end({ executor, now }: AccountTransaction, token: string | undefined): Promise<GrantedKey[]> {
    const [grant] = await findGrants(executor, token);
    return grant === undefined ? [] : removeConsoleSession(executor, grant.sessionId, now);
  }
}

/** Hash by which the key cache finds the key of one kind. No key of the API hashes to it: a header cannot contain NUL. */
export function hashSessionToken(kind: Caller["kind"], token: string): string {
  return hashToken(kind, token);
}

export function isTokenLength(token: string): boolean {
  return token.length > 0 && token.length <= MAX_TOKEN_LENGTH;
}

function hashToken(purpose: string, token: string): string {
  return hash("sha256", `console\0${purpose}\0${token}`);
}

async function findGrants(executor: Executor, token: string | undefined): Promise<ConsoleGrantRow[]> {
  if (token === undefined || !isTokenLength(token)) return [];
  const hashes = KINDS.map((kind) => hashSessionToken(kind, token));
  return findConsoleGrants(executor, hashes);
}

/** Returns a random token of a session or code. */
export function newSessionToken(): Secret {
  return new Secret(randomBytes(TOKEN_BYTES).toString("base64url"));
}

/**
 * Begins a session with keys whose owner showed a secret, or goes on with that of the keys that stay in it. These keep
 * their times: otherwise whoever has a key of the organization could extend the session of another one.
 */
async function begin(
  { executor, now, audit }: AccountTransaction,
  keys: readonly Key[],
  way: { method: "key" } | { method: "link"; codeId: string },
  staying: readonly GrantedKey[] = [],
): Promise<NewConsoleSession> {
  await removeExpiredConsoleGrants(executor, now);
  const token = newSessionToken();
  // Of all keys: those that stay end earlier.
  const endsAt = now + SESSION_MS;
  const sessionId = staying[0]?.sessionId ?? newId("session_");
  const grant = ({ id: keyId, kind }: Key, times: SessionTimes) => {
    const tokenHash = hashSessionToken(kind, token.reveal());
    return insertConsoleGrant(executor, { tokenHash, sessionId, keyId, ...times });
  };
  for (const { createdAt, expiresAt, ...key } of staying) await grant(key, { createdAt, expiresAt });
  for (const key of keys) {
    const { id, kind, organizationId } = key;
    await removeOldestConsoleSessions(executor, id, MAX_SESSIONS_PER_KEY - 1);
    await grant(key, { createdAt: now, expiresAt: endsAt });
    const details = { keyId: id, kind, sessionId, ...way };
    await audit({ type: "login.succeeded", organizationId, resourceId: id, details });
  }
  return { token, expiresAt: endsAt };
}

/** Keys of the default organization and its default project; those that do not expire first. */
async function operatorKeys({ executor, now }: AccountTransaction, organizationId: string): Promise<Key[]> {
  const project = await findDefaultProject(executor, organizationId);
  if (project === undefined) throw usedCode();
  const admin = await findLastingApiKey(executor, { organizationId, kind: "admin" }, now);
  const member = await findLastingApiKey(executor, { organizationId, projectId: project.id, kind: "project" }, now);
  return [
    ...(admin ? [{ ...admin, kind: "admin" } as const] : []),
    ...(member ? [{ ...member, kind: "project" } as const] : []),
  ];
}

function starting(): Fault {
  return unavailable("The service is starting. Try again in a moment.", "database_unavailable", 1);
}

function needsKey(): Fault {
  const message =
    "A session of the console creates no sign-in links: send the admin key itself, or run `parlance console` on the machine of the service.";
  return new Fault("forbidden", message, { code: "insufficient_permissions" });
}

function notOperator(): Fault {
  const message =
    "Only the operator signs in with a link, which needs an admin key without a user and without a list of permissions. Sign in to the console with your own account.";
  return new Fault("forbidden", message, { code: "insufficient_permissions" });
}

function usedCode(): Fault {
  const message =
    "This sign-in link was used already or has expired. Restart Parlance for another one, or sign in with a key.";
  return new Fault("unauthenticated", message, { code: "invalid_sign_in_code" });
}
