import type { Executor } from "../../storage/database.ts";
import type { ActiveApiKeyRow } from "../accounts/index.ts";
import { signedInUserHash, usersOfHashes } from "./sign-on-key.ts";
import type { UserSessionRow } from "./sign-on-rows.ts";

export async function insertUserSession(executor: Executor, row: UserSessionRow): Promise<void> {
  await executor.insertInto("userSessions").values(row).execute();
}

/** Finds a session by the hash of its token for either kind of routes. */
export async function findUserSession(executor: Executor, hash: string): Promise<UserSessionRow | undefined> {
  return executor
    .selectFrom("userSessions")
    .selectAll()
    .where((where) => where.or([where("adminHash", "=", hash), where("projectHash", "=", hash)]))
    .executeTakeFirst();
}

export async function updateUserSession(
  executor: Executor,
  id: string,
  change: Partial<Omit<UserSessionRow, "id" | "userId" | "adminHash" | "projectHash">>,
): Promise<void> {
  await executor.updateTable("userSessions").set(change).where("id", "=", id).execute();
}

/** Reserves the renewal of a session. Returns false while another process renews it or after one has. */
export async function claimRenewal(
  executor: Executor,
  session: Pick<UserSessionRow, "id" | "renewAt">,
  now: number,
  renewingUntil: number,
): Promise<boolean> {
  const result = await executor
    .updateTable("userSessions")
    .set({ renewingUntil })
    .where("id", "=", session.id)
    .where("renewAt", "=", session.renewAt)
    .where((where) => where.or([where("renewingUntil", "is", null), where("renewingUntil", "<", now)]))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteUserSessions(executor: Executor, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await executor.deleteFrom("userSessions").where("id", "in", ids).execute();
}

export async function deleteExpiredUserSessions(executor: Executor, now: number): Promise<void> {
  await executor.deleteFrom("userSessions").where("expiresAt", "<", now).execute();
}

/** Finds the sessions of a user, newest first. */
export async function findSessionsOfUser(executor: Executor, userId: string): Promise<UserSessionRow[]> {
  return executor
    .selectFrom("userSessions")
    .selectAll()
    .where("userId", "=", userId)
    .orderBy("createdAt", "desc")
    .orderBy("id")
    .execute();
}

/** Sessions at an issuer that a logout there ends: one by its `sid`, or all of a subject. */
export async function findSessionsOfIdentity(
  executor: Executor,
  identity: { issuer: string; subject: string | undefined; sid: string | undefined },
): Promise<UserSessionRow[]> {
  const { issuer, subject, sid } = identity;
  let sessions = executor.selectFrom("userSessions").selectAll().where("issuer", "=", issuer);
  if (sid !== undefined) sessions = sessions.where("sid", "=", sid);
  if (subject !== undefined) sessions = sessions.where("subject", "=", subject);
  return sessions.execute();
}

/** Finds what the sessions with these hashes act with: the user in the organization, and a key in a project. */
export async function findSessionKeys(executor: Executor, hashes: readonly string[]): Promise<ActiveApiKeyRow[]> {
  if (hashes.length === 0) return [];
  const rows = await executor
    .selectFrom("userSessions as session")
    .innerJoin("users as user", "user.id", "session.userId")
    .innerJoin("organizations as organization", "organization.id", "user.organizationId")
    .leftJoin("apiKeys as key", (join) =>
      join.onRef("key.id", "=", "session.projectKeyId").on("key.revokedAt", "is", null),
    )
    .leftJoin("projects as project", (join) =>
      join.onRef("project.id", "=", "key.projectId").on("project.archivedAt", "is", null),
    )
    .select(["session.adminHash", "session.projectHash", "session.validUntil", "session.renewAt"])
    .select(["session.id as sessionId", "session.providerId"])
    .select(["user.id as userId", "user.organizationId", "key.id as keyId", "project.id as projectId"])
    .where((where) => where.or([where("session.adminHash", "in", hashes), where("session.projectHash", "in", hashes)]))
    .where("user.disabledAt", "is", null)
    .where("organization.archivedAt", "is", null)
    .execute();
  const requested = new Set(hashes);
  const ofSessions = rows.flatMap((row) => {
    const { userId, organizationId, validUntil: expiresAt, sessionId, keyId, projectId } = row;
    const renewAt = row.providerId === null ? undefined : row.renewAt;
    const common = { userId, organizationId, expiresAt, renewAt, sessionId };
    const keys: ActiveApiKeyRow[] = [];
    if (requested.has(row.adminHash)) {
      keys.push({ ...common, id: sessionId, keyHash: row.adminHash, kind: "admin", projectId: null });
    }
    if (requested.has(row.projectHash) && keyId !== null && projectId !== null) {
      keys.push({ ...common, id: keyId, keyHash: row.projectHash, kind: "project", projectId });
    }
    return keys;
  });
  return [...ofSessions, ...(await findSignedInUsers(executor, hashes))];
}

/** Finds the users whom tokens of trusted issuers stand for on routes of the organization. */
async function findSignedInUsers(executor: Executor, hashes: readonly string[]): Promise<ActiveApiKeyRow[]> {
  const ids = usersOfHashes(hashes);
  if (ids.length === 0) return [];
  const users = await executor
    .selectFrom("users as user")
    .innerJoin("organizations as organization", "organization.id", "user.organizationId")
    .select(["user.id", "user.organizationId"])
    .where("user.id", "in", ids)
    .where("user.disabledAt", "is", null)
    .where("organization.archivedAt", "is", null)
    .execute();
  return users.map(({ id, organizationId }) => ({
    id,
    keyHash: signedInUserHash(id),
    kind: "admin" as const,
    organizationId,
    projectId: null,
    expiresAt: null,
    userId: id,
  }));
}
