import { sql, type Updateable } from "kysely";
import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
import type { ApiKeyRow } from "../account-rows.ts";

const MAX_CLIENT_LENGTH = 256;
/** Kinds of keys that administrators see as admin keys. */
const ADMIN_KINDS = ["admin", "restricted"] as const;

/** Which keys: of one organization, and if given of one project, service account or user. */
export interface ApiKeyScope {
  organizationId: string;
  kind: ApiKeyRow["kind"];
  projectId?: string;
  serviceAccountId?: string;
  userId?: string | undefined;
}

export async function insertApiKey(executor: Executor, row: ApiKeyRow): Promise<void> {
  await executor.insertInto("apiKeys").values(row).execute();
}

/** Finds a key; undefined also for a revoked one. */
export async function findApiKey(executor: Executor, scope: ApiKeyScope, id: string): Promise<ApiKeyRow | undefined> {
  return listed(executor, scope).where("id", "=", id).where("revokedAt", "is", null).executeTakeFirst();
}

/** Finds a key in any state by its hash. */
export async function findApiKeyByHash(executor: Executor, hash: string): Promise<ApiKeyRow | undefined> {
  return executor.selectFrom("apiKeys").selectAll().where("keyHash", "=", hash).executeTakeFirst();
}

/** Finds the hash of a key in any state. */
export async function findKeyHash(executor: Executor, id: string): Promise<string | undefined> {
  const row = await executor.selectFrom("apiKeys").select("keyHash").where("id", "=", id).executeTakeFirst();
  return row?.keyHash;
}

/** Lists keys that are not revoked, including expired ones; with `search`, those whose name or redacted value has it. */
export async function listApiKeys(
  executor: Executor,
  scope: ApiKeyScope,
  request: PageRequest,
  search?: string,
): Promise<Page<ApiKeyRow>> {
  const all = listed(executor, scope);
  return readPage(request, "createdAt", all, matching(all.where("revokedAt", "is", null), search));
}

function matching(keys: ReturnType<typeof scoped>, search = "") {
  if (search === "") return keys;
  const pattern = `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const has = (column: "name" | "redactedValue") =>
    sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`;
  return keys.where((where) => where.or([has("name"), has("redactedValue")]));
}

export interface ApiKeyFilter {
  projectId?: string | undefined;
  kind?: "project" | "admin" | undefined;
  search?: string | undefined;
}

/** Lists project and admin keys of an organization that are not revoked, including expired ones. */
export async function listOrganizationApiKeys(
  executor: Executor,
  organizationId: string,
  { projectId, kind, search }: ApiKeyFilter,
  request: PageRequest,
): Promise<Page<ApiKeyRow>> {
  const all = executor
    .selectFrom("apiKeys")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("kind", "in", kind === undefined ? ["project", ...ADMIN_KINDS] : kind === "admin" ? ADMIN_KINDS : [kind]);
  let keys = all.where("revokedAt", "is", null);
  if (projectId !== undefined) keys = keys.where("projectId", "=", projectId);
  return readPage(request, "createdAt", all, matching(keys, search));
}

/** Finds keys that are neither revoked nor expired, whatever the state of their project or organization. */
export async function findUsableApiKeys(executor: Executor, scope: ApiKeyScope, now: number): Promise<ApiKeyRow[]> {
  return usable(executor, scope, now).execute();
}

/** Finds the usable keys that the operator sets in the environment. */
export async function findFixedApiKeys(executor: Executor, scope: ApiKeyScope, now: number): Promise<ApiKeyRow[]> {
  return usable(executor, scope, now).where("isFixed", "=", 1).execute();
}

export async function hasUsableApiKey(executor: Executor, scope: ApiKeyScope, now: number): Promise<boolean> {
  return (await usable(executor, scope, now).limit(1).executeTakeFirst()) !== undefined;
}

/** Finds the usable key without a user that lives longest; of several, the oldest. */
export async function findLastingApiKey(
  executor: Executor,
  scope: ApiKeyScope,
  now: number,
): Promise<ApiKeyRow | undefined> {
  const lifetime = sql`coalesce(expires_at, ${Number.MAX_SAFE_INTEGER})`;
  return usable(executor, scope, now)
    .where("userId", "is", null)
    .where("keyHash", "not like", "sign-on %")
    .orderBy(lifetime, "desc")
    .orderBy("createdAt")
    .limit(1)
    .executeTakeFirst();
}

/** Changes a key, but not whether it is revoked: `endApiKey` and `restoreApiKey` do, and audit it. */
export async function updateApiKey(
  executor: Executor,
  id: string,
  change: Omit<Updateable<ApiKeyRow>, "revokedAt"> & { revokedAt?: never },
): Promise<void> {
  await executor.updateTable("apiKeys").set(change).where("id", "=", id).execute();
}

/** Revokes a key; returns false when it is revoked already. */
export async function revokeApiKey(executor: Executor, id: string, now: number): Promise<boolean> {
  const result = await executor
    .updateTable("apiKeys")
    .set({ revokedAt: now })
    .where("id", "=", id)
    .where("revokedAt", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Lets a revoked key work again. */
export async function unrevokeApiKey(executor: Executor, id: string): Promise<void> {
  await executor.updateTable("apiKeys").set({ revokedAt: null }).where("id", "=", id).execute();
}

export async function deleteApiKey(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("apiKeys").where("id", "=", id).execute();
}

export async function deleteExpiredApiKeys(executor: Executor, kind: ApiKeyRow["kind"], now: number): Promise<void> {
  await executor.deleteFrom("apiKeys").where("kind", "=", kind).where("expiresAt", "<", now).execute();
}

export async function revokeApiKeysOf(executor: Executor, serviceAccountId: string, now: number): Promise<void> {
  await executor
    .updateTable("apiKeys")
    .set({ revokedAt: now })
    .where("serviceAccountId", "=", serviceAccountId)
    .where("revokedAt", "is", null)
    .execute();
}

/** Revokes the keys of a user, in one project or in all. */
/** Revokes all keys of a user for good: a sign-in makes other ones, so that what they began does not go on. */
export async function endApiKeysOfUser(executor: Executor, userId: string, now: number): Promise<void> {
  await revokeApiKeysOfUser(executor, userId, now);
  await executor
    .updateTable("apiKeys")
    .set({ keyHash: sql<string>`cast(${ERASED} as text) || id` })
    .where("userId", "=", userId)
    .execute();
}

export async function revokeApiKeysOfUser(
  executor: Executor,
  userId: string,
  now: number,
  projectId?: string,
): Promise<void> {
  let keys = executor
    .updateTable("apiKeys")
    .set({ revokedAt: now })
    .where("userId", "=", userId)
    .where("revokedAt", "is", null);
  if (projectId !== undefined) keys = keys.where("projectId", "=", projectId);
  await keys.execute();
}

/** Beginning of what an erased key has in place of its hash. */
export const ERASED = "erased ";

/** Use of a key. */
export interface KeyUse {
  /** Epoch milliseconds. */
  time: number;
  address?: string | undefined;
  /** User agent. */
  client?: string | undefined;
}

/** Keeps the later time when another process has written one, and writes nothing to a key that was erased meanwhile. */
export async function recordUse(
  executor: Executor,
  id: string,
  { time: lastUsedAt, address, client }: KeyUse,
): Promise<void> {
  await executor
    .updateTable("apiKeys")
    .set({
      lastUsedAt,
      ...(address !== undefined && {
        lastUsedAddress: address,
        lastUsedClient: client?.slice(0, MAX_CLIENT_LENGTH) ?? null,
      }),
    })
    .where("id", "=", id)
    .where("keyHash", "not like", `${ERASED}%`)
    .where((where) => where.or([where("lastUsedAt", "is", null), where("lastUsedAt", "<", lastUsedAt)]))
    .execute();
}

function usable(executor: Executor, scope: ApiKeyScope, now: number) {
  return scoped(executor, scope)
    .where("revokedAt", "is", null)
    .where((where) => where.or([where("expiresAt", "is", null), where("expiresAt", ">", now)]));
}

/** Keys of a scope, restricted admin keys among the admin keys. */
function listed(executor: Executor, scope: ApiKeyScope) {
  return scoped(executor, scope, scope.kind === "admin" ? ADMIN_KINDS : [scope.kind]);
}

function scoped(executor: Executor, scope: ApiKeyScope, kinds: readonly ApiKeyRow["kind"][] = [scope.kind]) {
  let keys = executor
    .selectFrom("apiKeys")
    .selectAll()
    .where("organizationId", "=", scope.organizationId)
    .where("kind", "in", kinds);
  if (scope.projectId !== undefined) keys = keys.where("projectId", "=", scope.projectId);
  if (scope.serviceAccountId !== undefined) keys = keys.where("serviceAccountId", "=", scope.serviceAccountId);
  if (scope.userId !== undefined) keys = keys.where("userId", "=", scope.userId);
  return keys;
}
