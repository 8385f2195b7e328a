/** Sessions of users in the console: how they begin, choose a project, and end. */

import type { NewConsoleSession } from "../../http/session-cookie.ts";
import { HOUR_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import {
  type AccountTransaction,
  type AccountTransactions,
  type Actor,
  checkAuthor,
  findUsersByIds,
  hashSessionToken,
  isTokenLength,
  newSessionToken,
  type UserRow,
} from "../accounts/index.ts";
import type { Logout } from "./provider.ts";
import { ensureSignOnKey, findUsableProjects } from "./sign-on-key.ts";
import type { UserSessionRow } from "./sign-on-rows.ts";
import {
  deleteExpiredUserSessions,
  deleteUserSessions,
  findSessionsOfIdentity,
  findSessionsOfUser,
  findUserSession,
  insertUserSession,
  updateUserSession,
} from "./user-session-queries.ts";

const DEFAULT_SESSION_HOURS = 12;
/** A further session ends the user's oldest one. */
const MAX_SESSIONS_PER_USER = 50;

type SignInMethod = "provider" | "password" | "link";

/** What the provider knows of a session. */
type SessionAtProvider = Pick<UserSessionRow, "providerId" | "issuer" | "subject" | "sid" | "issuedAt">;

export interface NewUserSession {
  user: UserRow;
  method: SignInMethod;
  /** Undefined: the session is not renewed. `seal` encrypts the provider's tokens for the session of this ID. */
  provider?: SessionAtProvider & { seal(sessionId: string): Buffer; renewAt: number; validUntil: number };
}

export class UserSessions {
  readonly #transactions: AccountTransactions;
  readonly sessionMs: number;

  constructor(transactions: AccountTransactions, sessionHours: number = DEFAULT_SESSION_HOURS) {
    this.#transactions = transactions;
    this.sessionMs = sessionHours * HOUR_MS;
  }

  /** Begins a session in the transaction that signed the user in. */
  async begin(transaction: AccountTransaction, { user, method, provider }: NewUserSession): Promise<NewConsoleSession> {
    const { executor, now, audit } = transaction;
    await deleteExpiredUserSessions(executor, now);
    const sessions = await findSessionsOfUser(executor, user.id);
    const surplus = sessions.slice(MAX_SESSIONS_PER_USER - 1);
    await deleteUserSessions(
      executor,
      surplus.map(({ id }) => id),
    );
    const id = newId("session_");
    const token = newSessionToken();
    const expiresAt = now + this.sessionMs;
    const { seal, renewAt, validUntil, ...atProvider } = provider ?? {
      ...LOCAL,
      renewAt: expiresAt,
      validUntil: expiresAt,
    };
    await insertUserSession(executor, {
      id,
      userId: user.id,
      adminHash: hashSessionToken("admin", token.reveal()),
      projectHash: hashSessionToken("project", token.reveal()),
      projectKeyId: await chooseKey(transaction, user, sessions[0]?.projectKeyId ?? null),
      ...atProvider,
      tokens: seal?.(id) ?? null,
      createdAt: now,
      expiresAt,
      checkedAt: now,
      renewAt,
      validUntil: Math.min(validUntil, expiresAt),
      renewingUntil: null,
    });
    const details = { userId: user.id, sessionId: id, method, provider: atProvider.providerId };
    await audit({ type: "login.succeeded", organizationId: user.organizationId, resourceId: user.id, details });
    return { token, expiresAt };
  }

  /** Returns the session of a token; undefined without one. */
  async find(token: string): Promise<UserSessionRow | undefined> {
    if (!isTokenLength(token)) return undefined;
    const hash = hashSessionToken("admin", token);
    return this.#transactions.database.run((executor) => findUserSession(executor, hash));
  }

  /** Lists the projects in which the user of a session can call models. */
  async projects({ userId }: UserSessionRow): Promise<{ id: string; name: string }[]> {
    return this.#transactions.database.run(async (executor) => {
      const [user] = await findUsersByIds(executor, [userId]);
      return user === undefined ? [] : findUsableProjects(executor, user);
    });
  }

  /**
   * Makes a session call models in another project. Throws a Fault for a project in which the user may not do so, and once
   * the session has ended.
   */
  async chooseProject(actor: Actor, session: UserSessionRow, projectId: string): Promise<void> {
    const author = { ...actor, countedAs: `changes of ${session.userId}` as const };
    await this.#transactions.run(author, async (transaction) => {
      const { executor } = transaction;
      await checkAuthor(executor, { ...actor, keyId: session.id, sessionId: session.id });
      const [user] = await findUsersByIds(executor, [session.userId]);
      const projects = user === undefined ? [] : await findUsableProjects(executor, user);
      if (user === undefined || !projects.some(({ id }) => id === projectId)) {
        throw new Fault("not-found", `You have no project \`${projectId}\` in which you may call models.`);
      }
      const { organizationId } = user;
      const projectKeyId = await ensureSignOnKey(transaction, { organizationId, userId: user.id }, projectId);
      // Another choice may have come between. Without a change, no replica reads its keys again.
      const present = await findUserSession(executor, session.adminHash);
      if (projectKeyId !== present?.projectKeyId) await updateUserSession(executor, session.id, { projectKeyId });
    });
  }

  /** Ends one session. */
  async end(actor: Actor, session: UserSessionRow, reason: string): Promise<void> {
    await this.#transactions.run(actor, (transaction) => endSessions(transaction, [session], reason));
  }

  /** Ends the sessions that a provider's logout token names. Returns how many. */
  async endByLogout(actor: Actor, issuer: string, { subject, sid, issuedAt, toleranceMs }: Logout): Promise<number> {
    return this.#transactions.run(actor, async (transaction) => {
      const all = await findSessionsOfIdentity(transaction.executor, { issuer, subject, sid });
      // Both times are of the provider's clock. Rows of earlier versions have only the time of this one.
      const sessions = all.filter((session) =>
        session.issuedAt == null ? session.createdAt <= issuedAt + toleranceMs : session.issuedAt <= issuedAt,
      );
      await endSessions(transaction, sessions, "logout at the provider");
      return sessions.length;
    });
  }
}

const LOCAL = { providerId: null, issuer: null, subject: null, sid: null, issuedAt: null, seal: undefined } as const;

/** Ends sessions in a transaction, and audits that. */
export async function endSessions(
  { executor, audit }: AccountTransaction,
  sessions: readonly UserSessionRow[],
  reason: string,
): Promise<void> {
  const users = await findUsersByIds(executor, [...new Set(sessions.map(({ userId }) => userId))]);
  const organizationOf = new Map(users.map(({ id, organizationId }) => [id, organizationId]));
  for (const { id: sessionId, userId } of sessions) {
    const organizationId = organizationOf.get(userId);
    if (organizationId === undefined) continue;
    const details = { userId, sessionId, reason };
    await audit({ type: "logout.succeeded", organizationId, resourceId: userId, details });
  }
  await deleteUserSessions(
    executor,
    sessions.map(({ id }) => id),
  );
}

/** Chooses the project of an earlier session, or else the first one; null without a project. */
async function chooseKey(
  transaction: AccountTransaction,
  user: UserRow,
  earlierKeyId: string | null,
): Promise<string | null> {
  const projects = await findUsableProjects(transaction.executor, user);
  const earlier = await transaction.executor
    .selectFrom("apiKeys")
    .select("projectId")
    .where("id", "=", earlierKeyId)
    .executeTakeFirst();
  const project = projects.find(({ id }) => id === earlier?.projectId) ?? projects[0];
  if (project === undefined) return null;
  return ensureSignOnKey(transaction, { organizationId: user.organizationId, userId: user.id }, project.id);
}
