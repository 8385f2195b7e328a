/** Custom roles, their assignments, and the users and groups of projects. */

import type { Executor } from "../../../storage/database.ts";
import type { ProjectGroupRow, ProjectUserRow, RoleAssignmentRow, RoleRow } from "../people-rows.ts";

/** A role of the organization or of one project. */
export interface RoleReference {
  organizationId: string;
  scopeId: string;
  id: string;
}

export async function insertRole(executor: Executor, row: RoleRow): Promise<void> {
  await executor.insertInto("roles").values(row).execute();
}

export async function findRole(executor: Executor, role: RoleReference): Promise<RoleRow | undefined> {
  return executor
    .selectFrom("roles")
    .selectAll()
    .where("organizationId", "=", role.organizationId)
    .where("scopeId", "=", role.scopeId)
    .where("id", "=", role.id)
    .executeTakeFirst();
}

export async function findRoleByName(
  executor: Executor,
  scopeId: string,
  nameKey: string,
): Promise<RoleRow | undefined> {
  return executor
    .selectFrom("roles")
    .selectAll()
    .where("scopeId", "=", scopeId)
    .where("nameKey", "=", nameKey)
    .executeTakeFirst();
}

export async function findRolesByIds(executor: Executor, ids: readonly string[]): Promise<RoleRow[]> {
  if (ids.length === 0) return [];
  return executor.selectFrom("roles").selectAll().where("id", "in", ids).execute();
}

/** Finds the custom roles of a scope, oldest first. */
export async function findRolesOf(executor: Executor, scopeId: string): Promise<RoleRow[]> {
  return executor
    .selectFrom("roles")
    .selectAll()
    .where("scopeId", "=", scopeId)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();
}

export async function updateRole(
  executor: Executor,
  id: string,
  change: Partial<Pick<RoleRow, "name" | "nameKey" | "description" | "permissions" | "updatedAt">>,
): Promise<void> {
  await executor.updateTable("roles").set(change).where("id", "=", id).execute();
}

/** Deletes a role that nobody has any more. */
export async function deleteRole(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("roles").where("id", "=", id).execute();
}

/** Assigns a role; returns false when the principal has it already. */
export async function insertAssignment(executor: Executor, row: RoleAssignmentRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await executor
    .insertInto("roleAssignments")
    .values(row)
    .onConflict((conflict) => conflict.columns(["scopeId", "principalId", "roleId"]).doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) > 0;
}

/** Returns false when the principal did not have the role. */
export async function deleteAssignment(
  executor: Executor,
  assignment: Pick<RoleAssignmentRow, "scopeId" | "principalId" | "roleId">,
): Promise<boolean> {
  const result = await executor
    .deleteFrom("roleAssignments")
    .where("scopeId", "=", assignment.scopeId)
    .where("principalId", "=", assignment.principalId)
    .where("roleId", "=", assignment.roleId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Deletes the assignments of a user or group, in one scope or in all. */
export async function deleteAssignmentsOf(executor: Executor, principalId: string, scopeId?: string): Promise<void> {
  const all = executor.deleteFrom("roleAssignments").where("principalId", "=", principalId);
  await (scopeId === undefined ? all : all.where("scopeId", "=", scopeId)).execute();
}

/** Deletes the assignments of a role, and returns them. */
export async function deleteAssignmentsOfRole(executor: Executor, roleId: string): Promise<RoleAssignmentRow[]> {
  const rows = await executor.selectFrom("roleAssignments").selectAll().where("roleId", "=", roleId).execute();
  if (rows.length > 0) await executor.deleteFrom("roleAssignments").where("roleId", "=", roleId).execute();
  return rows;
}

export async function findAssignmentsOf(
  executor: Executor,
  principalIds: readonly string[],
): Promise<RoleAssignmentRow[]> {
  if (principalIds.length === 0) return [];
  return executor.selectFrom("roleAssignments").selectAll().where("principalId", "in", principalIds).execute();
}

/** Adds a user to a project or replaces the role of the membership. */
export async function putProjectUser(executor: Executor, row: ProjectUserRow): Promise<void> {
  await executor
    .insertInto("projectUsers")
    .values(row)
    .onConflict((conflict) => conflict.columns(["projectId", "userId"]).doUpdateSet({ roleId: row.roleId }))
    .execute();
}

export async function findProjectUser(
  executor: Executor,
  projectId: string,
  userId: string,
): Promise<ProjectUserRow | undefined> {
  return executor
    .selectFrom("projectUsers")
    .selectAll()
    .where("projectId", "=", projectId)
    .where("userId", "=", userId)
    .executeTakeFirst();
}

export async function findProjectUsersOf(executor: Executor, userIds: readonly string[]): Promise<ProjectUserRow[]> {
  if (userIds.length === 0) return [];
  return executor.selectFrom("projectUsers").selectAll().where("userId", "in", userIds).execute();
}

/** Adds a group to a project or replaces the role of the membership. */
export async function putProjectGroup(executor: Executor, row: ProjectGroupRow): Promise<void> {
  await executor
    .insertInto("projectGroups")
    .values(row)
    .onConflict((conflict) => conflict.columns(["projectId", "groupId"]).doUpdateSet({ roleId: row.roleId }))
    .execute();
}

export async function findProjectGroup(
  executor: Executor,
  projectId: string,
  groupId: string,
): Promise<ProjectGroupRow | undefined> {
  return executor
    .selectFrom("projectGroups")
    .selectAll()
    .where("projectId", "=", projectId)
    .where("groupId", "=", groupId)
    .executeTakeFirst();
}

export async function findProjectGroupsOf(executor: Executor, groupIds: readonly string[]): Promise<ProjectGroupRow[]> {
  if (groupIds.length === 0) return [];
  return executor.selectFrom("projectGroups").selectAll().where("groupId", "in", groupIds).execute();
}

/** Deletes the membership of a user or group in one project, or those in all. */
export async function deleteMembershipsOf(
  executor: Executor,
  { type, id }: { type: "user" | "group"; id: string },
  projectId?: string,
): Promise<void> {
  const all =
    type === "user"
      ? executor.deleteFrom("projectUsers").where("userId", "=", id)
      : executor.deleteFrom("projectGroups").where("groupId", "=", id);
  await (projectId === undefined ? all : all.where("projectId", "=", projectId)).execute();
}

/** Whether the role is that of a membership in a project. */
export async function isRoleInUse(executor: Executor, roleId: string): Promise<boolean> {
  const user = await executor
    .selectFrom("projectUsers")
    .select("userId")
    .where("roleId", "=", roleId)
    .limit(1)
    .execute();
  if (user.length > 0) return true;
  const group = await executor
    .selectFrom("projectGroups")
    .select("groupId")
    .where("roleId", "=", roleId)
    .limit(1)
    .execute();
  return group.length > 0;
}
