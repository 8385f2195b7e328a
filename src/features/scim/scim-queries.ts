import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type GroupMemberRow, type GroupRow, toEmailKey, toNameKey, type UserRow } from "../accounts/index.ts";

/** Rows of one statement, below the maximum number of parameters of both databases. */
const CHUNK = 500;
/** Sources of memberships that SCIM clients and administrators set; those of identity providers stay. */
const MANAGED_SOURCES = ["manual", "scim"];

/** Values that a resource must have. */
export interface Lookup {
  id?: string | undefined;
  externalId?: string | undefined;
  /** Only users have one. */
  userName?: string | undefined;
  /** Only groups have one. */
  displayName?: string | undefined;
}

interface Slice {
  offset: number;
  limit: number;
}

/** Finds the user whom a name of SCIM stands for: that of a managed user, or else an address. */
export async function findUserByScimName(
  executor: Executor,
  organizationId: string,
  userName: string,
): Promise<UserRow | undefined> {
  return usersIn(executor, organizationId, { userName }).executeTakeFirst();
}

export async function listScimUsers(
  executor: Executor,
  organizationId: string,
  lookup: Lookup,
  { offset, limit }: Slice,
): Promise<UserRow[]> {
  const users = usersIn(executor, organizationId, lookup);
  return users.orderBy("addedAt").orderBy("id").offset(offset).limit(limit).execute();
}

export async function countScimUsers(executor: Executor, organizationId: string): Promise<number> {
  return countIn(executor, "users", organizationId);
}

export async function listScimGroups(
  executor: Executor,
  organizationId: string,
  { id, externalId, displayName }: Lookup,
  { offset, limit }: Slice,
): Promise<GroupRow[]> {
  let groups = executor.selectFrom("groups").selectAll().where("organizationId", "=", organizationId);
  if (id !== undefined) groups = groups.where("id", "=", id);
  if (externalId !== undefined) groups = groups.where("externalId", "=", externalId);
  if (displayName !== undefined) groups = groups.where("nameKey", "=", toNameKey(displayName));
  return groups.orderBy("createdAt").orderBy("id").offset(offset).limit(limit).execute();
}

export async function countScimGroups(executor: Executor, organizationId: string): Promise<number> {
  return countIn(executor, "groups", organizationId);
}

/** Finds the members of groups, each once per group, by the time at which they joined. */
export async function findMembersOf(
  executor: Executor,
  groupIds: readonly string[],
): Promise<{ groupId: string; userId: string }[]> {
  if (groupIds.length === 0) return [];
  return executor
    .selectFrom("groupMembers")
    .select(["groupId", "userId"])
    .where("groupId", "in", groupIds)
    .groupBy(["groupId", "userId"])
    .orderBy(({ fn }) => fn.min("createdAt"))
    .orderBy("userId")
    .execute();
}

/** Returns those of the IDs that are no users of the organization. */
export async function findMissingUsers(
  executor: Executor,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const existing = new Set<string>();
  for (const chunk of chunksOf(ids)) {
    const rows = await executor
      .selectFrom("users")
      .select("id")
      .where("organizationId", "=", organizationId)
      .where("id", "in", chunk)
      .execute();
    for (const { id } of rows) existing.add(id);
  }
  return ids.filter((id) => !existing.has(id));
}

/** Adds members; does nothing for those that are in the group by SCIM. */
export async function addScimMembers(
  executor: Executor,
  groupId: string,
  userIds: readonly string[],
  createdAt: number,
): Promise<void> {
  for (const chunk of chunksOf(userIds)) {
    const rows: GroupMemberRow[] = chunk.map((userId) => ({ groupId, userId, source: "scim", createdAt }));
    await executor
      .insertInto("groupMembers")
      .values(rows)
      .onConflict((conflict) => conflict.columns(["groupId", "userId", "source"]).doNothing())
      .execute();
  }
}

/** Removes members, except for memberships that come from an identity provider's sign-on. */
export async function removeScimMembers(
  executor: Executor,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  for (const chunk of chunksOf(userIds)) {
    await executor
      .deleteFrom("groupMembers")
      .where("groupId", "=", groupId)
      .where("source", "in", MANAGED_SOURCES)
      .where("userId", "in", chunk)
      .execute();
  }
}

function usersIn(executor: Executor, organizationId: string, { id, externalId, userName }: Lookup) {
  let users = executor.selectFrom("users").selectAll().where("organizationId", "=", organizationId);
  if (id !== undefined) users = users.where("id", "=", id);
  if (externalId !== undefined) users = users.where("externalId", "=", externalId);
  if (userName !== undefined) {
    const key = toEmailKey(userName);
    users = users.where((where) =>
      where.or([
        where("scimUserName", "=", key),
        where.and([where("scimUserName", "is", null), where("email", "=", key)]),
      ]),
    );
  }
  return users;
}

async function countIn(executor: Executor, table: "users" | "groups", organizationId: string): Promise<number> {
  const { total } = await executor
    .selectFrom(table)
    .select(sql<number | string>`count(*)`.as("total"))
    .where("organizationId", "=", organizationId)
    .executeTakeFirstOrThrow();
  return Number(total);
}

function chunksOf<Entry>(entries: readonly Entry[]): Entry[][] {
  const count = Math.ceil(entries.length / CHUNK);
  return Array.from({ length: count }, (_, index) => entries.slice(index * CHUNK, (index + 1) * CHUNK));
}
