/**
 * Roles that begin or end beside another change: when a user or group joins or leaves a project, or when it or the role
 * is deleted. Each has an entry in the audit log, as if it alone had been given or taken.
 */

import type { ProjectRow } from "../account-rows.ts";
import type { AccountTransaction } from "../account-transaction.ts";
import { findOwnGrants, type PrincipalReference } from "./find-access.ts";
import type { RoleScope } from "./find-role.ts";
import { type Author, checkMayGrant } from "./may-grant.ts";
import {
  deleteAssignmentsOf,
  deleteAssignmentsOfRole,
  deleteMembershipsOf,
  findProjectGroup,
  findProjectUser,
  putProjectGroup,
  putProjectUser,
} from "./role-queries.ts";

/** Organization or project of a role, as audit entries name it. */
interface AuditedScope {
  organizationId: string;
  project: Pick<ProjectRow, "id" | "name"> | undefined;
}

/** Adds a user or group to a project, or replaces the role of the membership, unless it is this one already. */
export async function putMembership(
  transaction: AccountTransaction,
  project: Pick<ProjectRow, "id" | "name" | "organizationId">,
  principal: PrincipalReference,
  roleId: string,
): Promise<void> {
  const { executor, now } = transaction;
  const { id: projectId, organizationId } = project;
  const find = principal.type === "user" ? findProjectUser : findProjectGroup;
  if ((await find(executor, projectId, principal.id))?.roleId === roleId) return;
  const membership = { projectId, roleId, addedAt: now };
  if (principal.type === "user") await putProjectUser(executor, { ...membership, userId: principal.id });
  else await putProjectGroup(executor, { ...membership, groupId: principal.id });
  await auditRole(transaction, "role.assignment.created", { organizationId, project }, principal, roleId);
}

/**
 * Takes all roles of a user or group, that of the membership among them, in a project or, without one, everywhere.
 * Throws a Fault when the author does not have the permissions of one. `checked`: the caller has decided about that.
 */
export async function takeRoles(
  transaction: AccountTransaction,
  { organizationId, projectId }: RoleScope,
  principal: PrincipalReference,
  author: Pick<Author, "access"> | "checked",
): Promise<void> {
  const { executor } = transaction;
  const all = await findOwnGrants(executor, principal);
  const grants = all.filter((grant) => projectId === undefined || grant.projectId === projectId);
  if (author !== "checked") for (const grant of grants) checkMayGrant(author, grant.permissions, grant.projectId);
  await deleteMembershipsOf(executor, principal, projectId);
  await deleteAssignmentsOf(executor, principal.id, projectId);
  const projects = await findProjectsOf(transaction, grants);
  // A role of the membership may be assigned as well.
  const taken = new Map(grants.map((grant) => [`${grant.roleId} ${grant.projectId}`, grant]));
  for (const { roleId, projectId: id } of taken.values()) {
    const scope = { organizationId, project: projects.find((project) => project.id === id) };
    await auditRole(transaction, "role.assignment.deleted", scope, principal, roleId);
  }
}

/** Takes a role from all to whom it is assigned. */
export async function takeFromAll(transaction: AccountTransaction, scope: AuditedScope, roleId: string): Promise<void> {
  for (const { principalId } of await deleteAssignmentsOfRole(transaction.executor, roleId)) {
    const type = principalId.startsWith("group_") ? "group" : "user";
    await auditRole(transaction, "role.assignment.deleted", scope, { type, id: principalId }, roleId);
  }
}

export async function auditRole(
  { audit }: Pick<AccountTransaction, "audit">,
  type: "role.assignment.created" | "role.assignment.deleted",
  { organizationId, project }: AuditedScope,
  principal: PrincipalReference,
  roleId: string,
): Promise<void> {
  const details = { principalId: principal.id, principalType: principal.type, roleId };
  await audit({ type, organizationId, project, resourceId: roleId, details });
}

/** Finds the projects of roles, archived ones too. */
export async function findProjectsOf(
  { executor }: AccountTransaction,
  roles: readonly { projectId: string | undefined }[],
) {
  const ids = new Set(roles.flatMap(({ projectId }) => projectId ?? []));
  if (ids.size === 0) return [];
  return executor
    .selectFrom("projects")
    .select(["id", "name", "organizationId"])
    .where("id", "in", [...ids])
    .execute();
}
