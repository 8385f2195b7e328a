/** Finds the roles of users: their own, those of their groups, and custom ones. */

import type { Access } from "../../../contracts/caller.ts";
import { isRolePermission } from "../../../contracts/permissions.ts";
import { type Grant, toAccess } from "../../../http/access.ts";
import type { Executor } from "../../../storage/database.ts";
import { findGroupsOfUsers } from "../groups/group-queries.ts";
import type { GroupRow, UserRow } from "../people-rows.ts";
import { builtInRole, ORGANIZATION_ROLE_IDS } from "./built-in-roles.ts";
import { findAssignmentsOf, findProjectGroupsOf, findProjectUsersOf, findRolesByIds } from "./role-queries.ts";

export interface UserOfAccess {
  user: Pick<UserRow, "id" | "organizationId" | "role" | "name" | "disabledAt">;
}

/** A user or a group. */
export type PrincipalReference = Omit<Grant["source"], "name">;

interface AssignedRole {
  principalId: string;
  roleId: string;
  projectId: string | undefined;
}

/** Returns the permissions of each user by ID; a disabled user has none. */
export async function findAccess(
  executor: Executor,
  users: readonly UserOfAccess[],
): Promise<ReadonlyMap<string, Access>> {
  const grants = await findGrants(executor, users);
  return new Map([...grants].map(([id, each]) => [id, toAccess(each)]));
}

/** Returns the roles of each user by ID, with their sources; a disabled user has none. */
export async function findGrants(
  executor: Executor,
  users: readonly UserOfAccess[],
): Promise<ReadonlyMap<string, Grant[]>> {
  const enabled = users.filter(({ user }) => user.disabledAt === null);
  const groupsOf = await findGroups(executor, enabled);
  const groupIds = new Set([...groupsOf.values()].flatMap((groups) => [...groups.keys()]));
  const userIds = enabled.map(({ user }) => user.id);
  const assigned = await findAssigned(executor, userIds, [...groupIds]);
  for (const { user } of enabled) {
    const roleId = ORGANIZATION_ROLE_IDS[user.role];
    assigned.push({ principalId: user.id, roleId, projectId: undefined });
  }
  const toGrants = await grantsFrom(executor, assigned);
  return new Map(
    users.map(({ user }) => {
      if (user.disabledAt !== null) return [user.id, []];
      const groups = [...(groupsOf.get(user.id)?.values() ?? [])];
      return [
        user.id,
        [
          ...toGrants({ type: "user", id: user.id, name: user.name }),
          ...groups.flatMap(({ id, name }) => toGrants({ type: "group", id, name })),
        ],
      ];
    }),
  );
}

/** Returns the roles that a group gives to its members. */
export async function findGrantsOfGroup(executor: Executor, group: Pick<GroupRow, "id" | "name">): Promise<Grant[]> {
  const toGrants = await grantsFrom(executor, await findAssigned(executor, [], [group.id]));
  return toGrants({ type: "group", id: group.id, name: group.name });
}

/** Returns the roles that a user or group itself has: assigned ones, and those of its memberships in projects. */
export async function findOwnGrants(executor: Executor, { type, id }: PrincipalReference): Promise<Grant[]> {
  const assigned = await (type === "user" ? findAssigned(executor, [id], []) : findAssigned(executor, [], [id]));
  return (await grantsFrom(executor, assigned))({ type, id, name: "" });
}

/** Looks up the roles once, for all principals. */
async function grantsFrom(
  executor: Executor,
  assigned: readonly AssignedRole[],
): Promise<(principal: Grant["source"]) => Grant[]> {
  const byPrincipal = Map.groupBy(assigned, ({ principalId }) => principalId);
  const custom = await findRolesByIds(executor, [...new Set(assigned.map(({ roleId }) => roleId))]);
  const roles = new Map(
    custom.map((role) => [role.id, { name: role.name, permissions: toPermissions(role.permissions) }]),
  );
  return (source) =>
    (byPrincipal.get(source.id) ?? []).flatMap(({ roleId, projectId }) => {
      const role = builtInRole(roleId) ?? roles.get(roleId);
      if (role === undefined) return [];
      return [{ roleId, roleName: role.name, permissions: role.permissions, projectId, source }];
    });
}

/** Reads the permissions of a custom role, without those that this version does not have. */
export function toPermissions(json: string) {
  return (JSON.parse(json) as string[]).filter(isRolePermission);
}

/** Groups of each user, by the IDs of user and group. */
async function findGroups(
  executor: Executor,
  users: readonly UserOfAccess[],
): Promise<Map<string, Map<string, Pick<GroupRow, "id" | "name">>>> {
  const groups = new Map(users.map(({ user }) => [user.id, new Map<string, Pick<GroupRow, "id" | "name">>()]));
  const userIds = users.map(({ user }) => user.id);
  for (const { userId, ...group } of await findGroupsOfUsers(executor, userIds)) {
    groups.get(userId)?.set(group.id, group);
  }
  return groups;
}

async function findAssigned(
  executor: Executor,
  userIds: readonly string[],
  groupIds: readonly string[],
): Promise<AssignedRole[]> {
  const assignments = await findAssignmentsOf(executor, [...userIds, ...groupIds]);
  const projectUsers = await findProjectUsersOf(executor, userIds);
  const projectGroups = await findProjectGroupsOf(executor, groupIds);
  return [
    ...assignments.map(({ principalId, roleId, scopeId, organizationId }) => ({
      principalId,
      roleId,
      projectId: scopeId === organizationId ? undefined : scopeId,
    })),
    ...projectUsers.map(({ userId, roleId, projectId }) => ({ principalId: userId, roleId, projectId })),
    ...projectGroups.map(({ groupId, roleId, projectId }) => ({ principalId: groupId, roleId, projectId })),
  ];
}
