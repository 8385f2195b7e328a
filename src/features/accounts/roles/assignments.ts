/** Roles that users and groups have, in the organization or in a project. */

import type { Grant } from "../../../http/access.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import { findGroup } from "../groups/group-queries.ts";
import { noSuchGroup, refuseProviderGroup } from "../groups/groups.ts";
import type { GroupRow, OrganizationRole, UserRow } from "../people-rows.ts";
import { findActiveProject, findExistingProject } from "../projects/projects.ts";
import { updateUserRow } from "../users/user-queries.ts";
import { checkNotLastOwner, findExistingUser } from "../users/users.ts";
import { builtInRole, ORGANIZATION_ROLE_IDS } from "./built-in-roles.ts";
import { findGrants, findGrantsOfGroup, type PrincipalReference } from "./find-access.ts";
import { findRoleIn, fromBuiltIn, fromRow, type Role, type RoleScope, scopeIdOf } from "./find-role.ts";
import { type Author, checkMayGrant } from "./may-grant.ts";
import {
  deleteAssignment,
  findProjectGroup,
  findProjectUser,
  findRolesByIds,
  insertAssignment,
} from "./role-queries.ts";
import { checkProject } from "./roles.ts";

type Principal = { type: "user"; user: UserRow } | { type: "group"; group: GroupRow };

/** A role with where it comes from. */
export interface AssignedRole {
  role: Role;
  sources: Grant["source"][];
}

const RANKS: readonly OrganizationRole[] = ["reader", "member", "owner"];

export class RoleAssignments {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Lists the roles of a user, those from groups included, or of a group. Throws a Fault when it does not exist. */
  async list(scope: RoleScope, reference: PrincipalReference): Promise<AssignedRole[]> {
    return this.#transactions.database.run(async (executor) => {
      await checkProject(executor, scope, findExistingProject);
      return listAssigned(executor, scope, await findPrincipal(executor, scope, reference));
    });
  }

  /** Throws a Fault when the user or group does not have the role. */
  async retrieve(scope: RoleScope, reference: PrincipalReference, roleId: string): Promise<AssignedRole> {
    const assigned = (await this.list(scope, reference)).find(({ role }) => role.id === roleId);
    if (assigned === undefined) throw notAssigned(reference, roleId);
    return assigned;
  }

  /** Throws a Fault when the author does not have the permissions of the role. */
  async assign(
    author: Author,
    scope: RoleScope,
    reference: PrincipalReference,
    roleId: string,
  ): Promise<{ principal: Principal; role: Role }> {
    return this.#transactions.run(author, async (transaction) => {
      const { executor, now, audit } = transaction;
      const project = await checkProject(executor, scope, findActiveProject);
      const principal = await findPrincipal(executor, scope, reference);
      if (principal.type === "group") refuseProviderGroup(principal.group);
      const role = await findRoleIn(executor, scope, roleId);
      checkMayGrant(author, role.permissions, scope.projectId);
      const { organizationId } = scope;
      const details = { principalId: reference.id, principalType: reference.type, roleId: role.id };
      const event = { type: "role.assignment.created", organizationId, project, resourceId: role.id, details } as const;
      if (principal.type === "user" && scope.projectId === undefined && role.isBuiltIn) {
        const user = await raiseRole(transaction, principal.user, role);
        if (user.role !== principal.user.role) await audit(event);
        return { principal: { ...principal, user }, role };
      }
      const row = { organizationId, scopeId: scopeIdOf(scope), principalId: reference.id, roleId: role.id };
      if (await insertAssignment(executor, { ...row, createdAt: now })) await audit(event);
      return { principal, role };
    });
  }

  /** Throws a Fault when the role is not assigned, comes from a group or is that of the membership. */
  async unassign(author: Author, scope: RoleScope, reference: PrincipalReference, roleId: string): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const { executor, audit } = transaction;
      const project = await checkProject(executor, scope, findActiveProject);
      const principal = await findPrincipal(executor, scope, reference);
      if (principal.type === "group") refuseProviderGroup(principal.group);
      const assigned = (await listAssigned(executor, scope, principal)).find(({ role }) => role.id === roleId);
      if (assigned === undefined) throw notAssigned(reference, roleId);
      checkMayGrant(author, assigned.role.permissions, scope.projectId);
      const assignment = { scopeId: scopeIdOf(scope), principalId: reference.id, roleId };
      if (!(await deleteAssignment(executor, assignment))) await lowerRole(transaction, scope, principal, assigned);
      const { organizationId } = scope;
      const details = { principalId: reference.id, principalType: reference.type, roleId };
      await audit({ type: "role.assignment.deleted", organizationId, project, resourceId: roleId, details });
    });
  }
}

/** Sets the user's role of the organization, unless it allows more already. */
async function raiseRole({ executor }: AccountTransaction, user: UserRow, role: Role): Promise<UserRow> {
  const builtInRole = RANKS.find((each) => ORGANIZATION_ROLE_IDS[each] === role.id) ?? user.role;
  if (RANKS.indexOf(builtInRole) <= RANKS.indexOf(user.role)) return user;
  await updateUserRow(executor, user.id, { role: builtInRole });
  return { ...user, role: builtInRole };
}

/** Takes the user's own role of the organization away, which leaves `reader`. Throws a Fault for any other role. */
async function lowerRole(
  { executor }: AccountTransaction,
  scope: RoleScope,
  principal: Principal,
  { role, sources }: AssignedRole,
): Promise<void> {
  const fromGroup = sources.find(({ type }) => type === "group");
  if (fromGroup !== undefined && principal.type === "user" && sources.every(({ type }) => type === "group")) {
    throw invalidRequest(`The role comes from the group \`${fromGroup.name}\`. Remove the user from the group.`);
  }
  if (scope.projectId !== undefined) {
    throw invalidRequest("The role is that of the membership. Change the membership's role, or remove it.");
  }
  if (principal.type !== "user" || role.id === ORGANIZATION_ROLE_IDS.reader) {
    throw invalidRequest("Every user has a role in the organization. Assign another one, or remove the user.");
  }
  if (principal.user.role === "owner") await checkNotLastOwner(executor, principal.user);
  await updateUserRow(executor, principal.user.id, { role: "reader" });
}

async function findPrincipal(
  executor: Executor,
  { organizationId, projectId }: RoleScope,
  { type, id }: PrincipalReference,
): Promise<Principal> {
  if (type === "user") {
    const user = await findExistingUser(executor, { organizationId, id });
    if (projectId !== undefined && (await findProjectUser(executor, projectId, id)) === undefined) {
      throw new Fault("not-found", `The user \`${id}\` is not in the project. Add the user to the project first.`);
    }
    return { type, user };
  }
  const group = await findGroup(executor, { organizationId, id });
  if (group === undefined) throw noSuchGroup(id);
  if (projectId !== undefined && (await findProjectGroup(executor, projectId, id)) === undefined) {
    throw new Fault("not-found", `The group \`${id}\` is not in the project. Add the group to the project first.`);
  }
  return { type, group };
}

async function listAssigned(executor: Executor, scope: RoleScope, principal: Principal): Promise<AssignedRole[]> {
  const grants =
    principal.type === "user"
      ? ((await findGrants(executor, [{ user: { ...principal.user, disabledAt: null } }])).get(principal.user.id) ?? [])
      : await findGrantsOfGroup(executor, principal.group);
  const byRole = Map.groupBy(
    grants.filter(({ projectId }) => projectId === scope.projectId),
    ({ roleId }) => roleId,
  );
  const custom = new Map((await findRolesByIds(executor, [...byRole.keys()])).map((row) => [row.id, fromRow(row)]));
  return [...byRole].flatMap(([roleId, each]) => {
    const builtIn = builtInRole(roleId);
    const role = builtIn === undefined ? custom.get(roleId) : fromBuiltIn(builtIn);
    return role === undefined ? [] : [{ role, sources: each.map(({ source }) => source) }];
  });
}

function notAssigned({ type, id }: PrincipalReference, roleId: string): Fault {
  return new Fault("not-found", `The ${type} \`${id}\` does not have the role \`${roleId.slice(0, 100)}\`.`);
}
