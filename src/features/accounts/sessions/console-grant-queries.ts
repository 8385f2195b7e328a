/** Grants of console sessions: which key a session's token stands for, one row per kind of key. */

import type { Caller } from "../../../contracts/caller.ts";
import type { Executor } from "../../../storage/database.ts";
import type { ApiKeyRow } from "../account-rows.ts";
import { type ActiveApiKeyRow, activeApiKeys } from "../keys/active-api-key-queries.ts";
import type { ConsoleGrantRow, SessionTimes } from "./console-grant-rows.ts";

export async function insertConsoleGrant(executor: Executor, row: ConsoleGrantRow): Promise<void> {
  await executor.insertInto("consoleGrants").values(row).execute();
}

/** A key that a session acts with, and since and until when. */
export interface GrantedKey extends Pick<ApiKeyRow, "id" | "organizationId">, SessionTimes {
  kind: Caller["kind"];
  sessionId: string;
}

/** Removes a session. Returns its keys that exist, without those for which it has expired. */
export async function removeConsoleSession(executor: Executor, sessionId: string, now: number): Promise<GrantedKey[]> {
  const keys = await executor
    .selectFrom("consoleGrants as grant")
    .innerJoin("apiKeys as key", "key.id", "grant.keyId")
    .select(["key.id", "key.kind", "key.organizationId", "grant.sessionId", "grant.createdAt", "grant.expiresAt"])
    .where("grant.sessionId", "=", sessionId)
    .where("grant.expiresAt", ">", now)
    .orderBy("grant.tokenHash")
    .execute();
  await executor.deleteFrom("consoleGrants").where("sessionId", "=", sessionId).execute();
  return keys.map((key) => ({ ...key, kind: key.kind === "project" ? "project" : "admin" }));
}

export async function removeExpiredConsoleGrants(executor: Executor, now: number): Promise<void> {
  await executor.deleteFrom("consoleGrants").where("expiresAt", "<", now).execute();
}

/** Ends the oldest sessions of a key, so that at most `kept` of them remain. */
export async function removeOldestConsoleSessions(executor: Executor, keyId: string, kept: number): Promise<void> {
  const newest = executor
    .selectFrom("consoleGrants")
    .select("sessionId")
    .where("keyId", "=", keyId)
    .orderBy("createdAt", "desc")
    .orderBy("sessionId")
    .limit(kept);
  const older = await executor
    .selectFrom("consoleGrants")
    .select("sessionId")
    .where("keyId", "=", keyId)
    .where("sessionId", "not in", newest)
    .execute();
  const sessionIds = older.map(({ sessionId }) => sessionId);
  if (sessionIds.length > 0) await executor.deleteFrom("consoleGrants").where("sessionId", "in", sessionIds).execute();
}

/** Whether a session acts with this key, or with any if none is named: each of its keys expires for itself. */
export async function hasConsoleSession(
  executor: Executor,
  { sessionId, keyId }: { sessionId: string; keyId?: string | null | undefined },
  now: number,
): Promise<boolean> {
  let grants = executor
    .selectFrom("consoleGrants")
    .select("sessionId")
    .where("sessionId", "=", sessionId)
    .where("expiresAt", ">", now);
  if (keyId != null) grants = grants.where("keyId", "=", keyId);
  return (await grants.limit(1).executeTakeFirst()) !== undefined;
}

/** Finds grants by their hashes, with their sessions. */
export async function findConsoleGrants(executor: Executor, hashes: readonly string[]): Promise<ConsoleGrantRow[]> {
  return executor.selectFrom("consoleGrants").selectAll().where("tokenHash", "in", hashes).execute();
}

/** Finds the keys behind the grants with these hashes; their expiry is the earlier one of session and key. */
export async function findGrantedApiKeys(executor: Executor, hashes: readonly string[]): Promise<ActiveApiKeyRow[]> {
  if (hashes.length === 0) return [];
  const rows = await activeApiKeys(executor)
    .innerJoin("consoleGrants as grant", "grant.keyId", "key.id")
    .select(["grant.tokenHash as keyHash", "grant.sessionId", "grant.expiresAt as sessionExpiresAt"])
    .where("grant.tokenHash", "in", hashes)
    .execute();
  return rows.map(({ sessionExpiresAt, ...key }) => ({
    ...key,
    expiresAt: Math.min(sessionExpiresAt, key.expiresAt ?? Number.MAX_SAFE_INTEGER),
  }));
}
