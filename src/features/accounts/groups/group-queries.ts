import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
import type { GroupMemberRow, GroupRow, UserRow } from "../people-rows.ts";

/** Reference to a group within the caller's organization. */
export interface GroupReference {
  organizationId: string;
  id: string;
}

export async function insertGroup(executor: Executor, row: GroupRow): Promise<void> {
  await executor.insertInto("groups").values(row).execute();
}

export async function findGroup(executor: Executor, group: GroupReference): Promise<GroupRow | undefined> {
  return executor
    .selectFrom("groups")
    .selectAll()
    .where("organizationId", "=", group.organizationId)
    .where("id", "=", group.id)
    .executeTakeFirst();
}

/** Finds groups by name, regardless of case; unknown names are ignored. */
export async function findGroupsByName(
  executor: Executor,
  organizationId: string,
  names: readonly string[],
): Promise<GroupRow[]> {
  if (names.length === 0) return [];
  return executor
    .selectFrom("groups")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("nameKey", "in", names.map(toNameKey))
    .execute();
}

/** Returns those of the groups that a SCIM client manages. */
export async function findScimManagedIds(executor: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await executor
    .selectFrom("groups")
    .select("id")
    .where("id", "in", ids)
    .where("isScimManaged", "=", 1)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Form of a name by which names of groups and roles are compared. */
export function toNameKey(name: string): string {
  return name.trim().toLowerCase();
}

export async function updateGroup(
  executor: Executor,
  id: string,
  change: Partial<Pick<GroupRow, "name" | "nameKey" | "isScimManaged" | "externalId">>,
): Promise<void> {
  await executor.updateTable("groups").set(change).where("id", "=", id).execute();
}

/** Deletes a group that has no roles any more, and its members. */
export async function deleteGroup(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("groups").where("id", "=", id).execute();
}

/** Adds a user to a group by a source; returns false for a member by the same source. */
export async function insertGroupMember(executor: Executor, row: GroupMemberRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await executor
    .insertInto("groupMembers")
    .values(row)
    .onConflict((conflict) => conflict.columns(["groupId", "userId", "source"]).doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) > 0;
}

/** Removes a user from a group, whatever the source; returns false when the user was not in it. */
export async function deleteGroupMember(executor: Executor, groupId: string, userId: string): Promise<boolean> {
  const result = await executor
    .deleteFrom("groupMembers")
    .where("groupId", "=", groupId)
    .where("userId", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Finds the groups in which a user is by one source. */
export async function findGroupIdsOfUser(executor: Executor, userId: string, source: string): Promise<string[]> {
  const rows = await executor
    .selectFrom("groupMembers")
    .select("groupId")
    .where("userId", "=", userId)
    .where("source", "=", source)
    .execute();
  return rows.map(({ groupId }) => groupId);
}

/** Removes a user from groups in which the user is by one source; what other sources say stays. */
export async function deleteMembershipsBySource(
  executor: Executor,
  { userId, source }: Pick<GroupMemberRow, "userId" | "source">,
  groupIds: readonly string[],
): Promise<void> {
  if (groupIds.length === 0) return;
  await executor
    .deleteFrom("groupMembers")
    .where("userId", "=", userId)
    .where("source", "=", source)
    .where("groupId", "in", groupIds)
    .execute();
}

/** Finds the groups of users, each once per user. */
export async function findGroupsOfUsers(
  executor: Executor,
  userIds: readonly string[],
): Promise<(Pick<GroupRow, "id" | "name"> & { userId: string })[]> {
  if (userIds.length === 0) return [];
  return executor
    .selectFrom("groupMembers as member")
    .innerJoin("groups as group", "group.id", "member.groupId")
    .select(["group.id", "group.name", "member.userId"])
    .where("member.userId", "in", userIds)
    .distinct()
    .orderBy("group.name")
    .orderBy("group.id")
    .execute();
}

export async function listGroups(
  executor: Executor,
  organizationId: string,
  request: PageRequest,
): Promise<Page<GroupRow>> {
  return readPage(
    request,
    "createdAt",
    executor.selectFrom("groups").selectAll().where("organizationId", "=", organizationId),
  );
}

/** Lists the members of a group by the time at which they were added to the organization. */
export async function listGroupMembers(
  executor: Executor,
  groupId: string,
  request: PageRequest,
): Promise<Page<UserRow>> {
  return readPage(request, "addedAt", membersOf(executor, groupId));
}

export async function findGroupMember(
  executor: Executor,
  groupId: string,
  userId: string,
): Promise<UserRow | undefined> {
  return membersOf(executor, groupId).where("id", "=", userId).executeTakeFirst();
}

function membersOf(executor: Executor, groupId: string) {
  const ids = executor.selectFrom("groupMembers").select("userId").where("groupId", "=", groupId);
  return executor.selectFrom("users").selectAll().where("id", "in", ids);
}
