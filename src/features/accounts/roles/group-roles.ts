/** Roles that a configuration decides: a group has exactly these. */

import type { AccountTransaction } from "../account-transaction.ts";
import type { GroupRow } from "../people-rows.ts";
import { auditRole, findProjectsOf, putMembership } from "./role-changes.ts";
import {
  deleteAssignment,
  deleteMembershipsOf,
  findAssignmentsOf,
  findProjectGroupsOf,
  insertAssignment,
} from "./role-queries.ts";

/** A role of the organization or, with a project, that of the membership there. */
export interface RoleOfGroup {
  roleId: string;
  projectId: string | undefined;
}

/** Gives a group exactly these roles, of several for a project the last one, and audits what that changes. */
export async function setRolesOfGroup(
  transaction: AccountTransaction,
  group: Pick<GroupRow, "id" | "organizationId">,
  roles: readonly RoleOfGroup[],
): Promise<void> {
  const { executor } = transaction;
  const { id, organizationId } = group;
  const wanted = [...new Map(roles.map((role) => [role.projectId ?? role.roleId, role])).values()];
  const assignments = await findAssignmentsOf(executor, [id]);
  const memberships = await findProjectGroupsOf(executor, [id]);
  const former = [
    ...assignments.map(({ scopeId, roleId }) => ({ scopeId, roleId, projectId: undefined })),
    ...memberships,
  ];
  const isSame = (one: RoleOfGroup, other: RoleOfGroup) =>
    one.roleId === other.roleId && one.projectId === other.projectId;
  const taken = former.filter((role) => !wanted.some((each) => isSame(each, role)));
  const given = wanted.filter((role) => !former.some((each) => isSame(each, role)));
  const projects = new Map((await findProjectsOf(transaction, [...taken, ...given])).map((each) => [each.id, each]));
  const principal = { type: "group", id } as const;
  for (const role of taken) {
    if ("scopeId" in role) await deleteAssignment(executor, { ...role, principalId: id });
    else await deleteMembershipsOf(executor, principal, role.projectId);
    const scope = { organizationId, project: projects.get(role.projectId ?? "") };
    await auditRole(transaction, "role.assignment.deleted", scope, principal, role.roleId);
  }
  for (const { roleId, projectId } of given) {
    const project = projects.get(projectId ?? "");
    if (projectId === undefined) await assignInOrganization(transaction, group, roleId);
    else if (project !== undefined) await putMembership(transaction, project, principal, roleId);
    else throw new Error(`the role ${roleId} is of the project ${projectId}, which does not exist`);
  }
}

async function assignInOrganization(
  transaction: AccountTransaction,
  { id, organizationId }: Pick<GroupRow, "id" | "organizationId">,
  roleId: string,
): Promise<void> {
  const { executor, now } = transaction;
  await insertAssignment(executor, {
    organizationId,
    scopeId: organizationId,
    principalId: id,
    roleId,
    createdAt: now,
  });
  const scope = { organizationId, project: undefined };
  await auditRole(transaction, "role.assignment.created", scope, { type: "group", id }, roleId);
}
