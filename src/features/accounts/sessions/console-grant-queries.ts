/** Grants of console sessions: which key a session's token stands for, one row per kind of key. */

import type { Executor } from "../../../storage/database.ts";
import { type ActiveApiKeyRow, activeApiKeys } from "../keys/active-api-key-queries.ts";
import type { ConsoleGrantRow } from "./console-grant-rows.ts";

export async function insertConsoleGrant(executor: Executor, row: ConsoleGrantRow): Promise<void> {
  await executor.insertInto("consoleGrants").values(row).execute();
}

/** Removes a session and returns its grants. */
export async function removeConsoleSession(executor: Executor, sessionId: string): Promise<ConsoleGrantRow[]> {
  const grants = await executor
    .selectFrom("consoleGrants")
    .selectAll()
    .where("sessionId", "=", sessionId)
    .orderBy("tokenHash")
    .execute();
  await executor.deleteFrom("consoleGrants").where("sessionId", "=", sessionId).execute();
  return grants;
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

/** Returns one grant of a session; undefined once it has ended. */
export async function findConsoleSession(
  executor: Executor,
  sessionId: string,
  now: number,
): Promise<ConsoleGrantRow | undefined> {
  return executor
    .selectFrom("consoleGrants")
    .selectAll()
    .where("sessionId", "=", sessionId)
    .where("expiresAt", ">", now)
    .executeTakeFirst();
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
