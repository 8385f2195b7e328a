/**
 * Checks the author of a change again, in its transaction: the change may have waited for others, and the cache that
 * admitted the request may be up to a second behind what another replica changed.
 */

import { missingPermission } from "../../../http/access.ts";
import { Fault } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import { isSessionId } from "../../../wire/openai/organization/organization-audit-logs.ts";
import type { Actor } from "../audit/audit.ts";
import { type ActiveApiKeyRow, activeApiKeys } from "../keys/active-api-key-queries.ts";
import type { UserRow } from "../people-rows.ts";
import { hasConsoleSession } from "../sessions/console-grant-queries.ts";
import { findAccess } from "./find-access.ts";

/** Throws a Fault unless the author still has the key or session, and every permission, that admitted the request. */
export async function checkAuthor(executor: Executor, actor: Actor): Promise<void> {
  // The operator, and whoever is signing in.
  if (actor.keyId === undefined) return;
  const author = await findAuthor(executor, actor, Date.now());
  if (author === undefined) {
    const message = "The API key or session has ended before this change could be made. Nothing was changed.";
    const code = actor.sessionId === undefined ? "invalid_api_key" : "session_ended";
    throw new Fault("unauthenticated", message, { code });
  }
  const { user } = author;
  if (user === undefined || actor.access === undefined) return;
  const access = (await findAccess(executor, [{ user }])).get(user.id) ?? { organization: [], projects: {} };
  const lost = missingPermission(access, actor.access);
  if (lost === undefined) return;
  const message = `You lost the permission \`${lost}\` before this change could be made. Nothing was changed. Try again.`;
  throw new Fault("forbidden", message, { code: "insufficient_permissions" });
}

/** How a change was authenticated. */
interface Credential {
  keyId?: string | null | undefined;
  sessionId?: string | undefined;
  userId?: string | null | undefined;
}

/**
 * Returns the key and the user of an author, without a key for sessions and tokens of users; undefined once the key, the
 * session or the user has ended, or the project or organization is archived.
 */
export async function findAuthor(
  executor: Executor,
  { keyId, sessionId, userId }: Credential,
  now: number,
): Promise<{ key?: ActiveApiKeyRow; user?: UserRow } | undefined> {
  if (sessionId !== undefined && !(await isSessionValid(executor, { sessionId, keyId }, now))) return undefined;
  const user = userId == null ? undefined : await findActiveUser(executor, userId);
  if (userId != null && user === undefined) return undefined;
  // The token of a user stands for the user.
  const isKey = keyId != null && keyId !== userId && !isSessionId(keyId);
  if (!isKey) return { ...(user && { user }) };
  const key = await activeApiKeys(executor).select("key.keyHash").where("key.id", "=", keyId).executeTakeFirst();
  if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now)) return undefined;
  return { key, ...(user && { user }) };
}

/** Finds a user who is not disabled, in an organization that is not archived. */
async function findActiveUser(executor: Executor, id: string): Promise<UserRow | undefined> {
  return executor
    .selectFrom("users as user")
    .innerJoin("organizations as organization", "organization.id", "user.organizationId")
    .selectAll("user")
    .where("user.id", "=", id)
    .where("user.disabledAt", "is", null)
    .where("organization.archivedAt", "is", null)
    .executeTakeFirst();
}

/** Whether the session of a user or a key works. That one is due for a look at its provider is for the next request. */
async function isSessionValid(
  executor: Executor,
  session: { sessionId: string; keyId: string | null | undefined },
  now: number,
): Promise<boolean> {
  const ofUser = await executor
    .selectFrom("userSessions")
    .select("id")
    .where("id", "=", session.sessionId)
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return ofUser !== undefined || (await hasConsoleSession(executor, session, now));
}
