/** Custom roles of organizations and projects. */

import { isDeepStrictEqual } from "node:util";
import { isRolePermission, PROJECT_PERMISSIONS, type RolePermission } from "../../../contracts/permissions.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import type { Executor } from "../../../storage/database.ts";
import type { AccountTransactions } from "../account-transaction.ts";
import { toNameKey } from "../groups/group-queries.ts";
import { checkName } from "../name.ts";
import type { RoleRow } from "../people-rows.ts";
import { findActiveProject, findExistingProject } from "../projects/projects.ts";
import { builtInOf, findAllRolesIn, findRoleIn, fromRow, type Role, type RoleScope, scopeIdOf } from "./find-role.ts";
import { type Author, checkMayGrant } from "./may-grant.ts";
import { takeFromAll } from "./role-changes.ts";
import { deleteRole, findRoleByName, insertRole, isRoleInUse, updateRole } from "./role-queries.ts";

const MAX_ROLES = 100;
const MAX_DESCRIPTION_LENGTH = 1_000;

export interface RoleChange {
  name?: string | undefined;
  description?: string | null | undefined;
  permissions?: readonly string[] | undefined;
}

export class Roles {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Lists the built-in roles, then the custom ones. Throws a Fault when the project does not exist. */
  async list(scope: RoleScope): Promise<Role[]> {
    return this.#transactions.database.run(async (executor) => {
      await checkProject(executor, scope, findExistingProject);
      return findAllRolesIn(executor, scope);
    });
  }

  /** Finds a role by ID or name. Throws a Fault when it does not exist. */
  async retrieve(scope: RoleScope, id: string): Promise<Role> {
    return this.#transactions.database.run(async (executor) => {
      await checkProject(executor, scope, findExistingProject);
      return findRoleIn(executor, scope, id);
    });
  }

  /** Throws a Fault for an invalid or taken name, unknown permissions, or ones that the author does not have. */
  async create(author: Author, scope: RoleScope, wanted: RoleChange & { name: string }): Promise<Role> {
    const name = checkName(wanted.name, "role_name");
    const permissions = checkPermissions(wanted.permissions ?? [], scope);
    const description = checkDescription(wanted.description ?? null);
    const { organizationId, projectId } = scope;
    return this.#transactions.run(author, async ({ executor, now, audit }) => {
      const project = await checkProject(executor, scope, findActiveProject);
      checkMayGrant(author, permissions, projectId);
      await checkFreeName(executor, scope, name, undefined);
      const existing = (await findAllRolesIn(executor, scope)).filter(({ isBuiltIn }) => !isBuiltIn);
      if (existing.length >= MAX_ROLES) {
        throw invalidRequest(`There are ${MAX_ROLES} custom roles already, the maximum. Delete one first.`);
      }
      const row: RoleRow = {
        id: newId("role_"),
        organizationId,
        scopeId: scopeIdOf(scope),
        name,
        nameKey: toNameKey(name),
        description,
        permissions: JSON.stringify(permissions),
        createdBy: author.userId ?? null,
        createdAt: now,
        updatedAt: now,
      };
      await insertRole(executor, row);
      const details = { roleName: name, permissions };
      await audit({ type: "role.created", organizationId, project, resourceId: row.id, details });
      return fromRow(row);
    });
  }

  /** Throws a Fault for a built-in role, and as `create`. */
  async update(author: Author, scope: RoleScope, id: string, change: RoleChange): Promise<Role> {
    const name = change.name === undefined ? undefined : checkName(change.name, "role_name");
    const permissions = change.permissions && checkPermissions(change.permissions, scope);
    const description = change.description === undefined ? undefined : checkDescription(change.description);
    return this.#transactions.run(author, async ({ executor, now, audit }) => {
      const project = await checkProject(executor, scope, findActiveProject);
      const role = await findCustom(executor, scope, id);
      checkMayGrant(author, [...role.permissions, ...(permissions ?? [])], scope.projectId);
      if (name !== undefined) await checkFreeName(executor, scope, name, role.id);
      const isSame =
        (name ?? role.name) === role.name &&
        (description === undefined || description === role.description) &&
        (permissions === undefined || isDeepStrictEqual(permissions, role.permissions));
      if (isSame) return role;
      await updateRole(executor, role.id, {
        ...(name !== undefined && { name, nameKey: toNameKey(name) }),
        ...(permissions !== undefined && { permissions: JSON.stringify(permissions) }),
        ...(description !== undefined && { description }),
        updatedAt: now,
      });
      const { organizationId } = scope;
      const details = { ...(name !== undefined && { roleName: name }), ...(permissions && { permissions }) };
      await audit({ type: "role.updated", organizationId, project, resourceId: role.id, details });
      return findRoleIn(executor, scope, role.id);
    });
  }

  /** Deletes a role and its assignments. Throws a Fault for a built-in one, and for one that memberships have. */
  async delete(author: Author, scope: RoleScope, id: string): Promise<void> {
    await this.#transactions.run(author, async (transaction) => {
      const { executor, audit } = transaction;
      const project = await checkProject(executor, scope, findActiveProject);
      const role = await findCustom(executor, scope, id);
      checkMayGrant(author, role.permissions, scope.projectId);
      if (await isRoleInUse(executor, role.id)) {
        const message = `The role \`${role.name}\` is the role of users or groups in the project. Give them another role first.`;
        throw new Fault("conflict", message);
      }
      const { organizationId } = scope;
      await takeFromAll(transaction, { organizationId, project }, role.id);
      await deleteRole(executor, role.id);
      await audit({ type: "role.deleted", organizationId, project, resourceId: role.id, details: {} });
    });
  }
}

/** Finds the project of a scope with `find`, which throws a Fault; undefined for an organization. */
export async function checkProject(
  executor: Executor,
  { organizationId, projectId }: RoleScope,
  find: typeof findActiveProject,
) {
  return projectId === undefined ? undefined : find(executor, { organizationId, id: projectId });
}

async function findCustom(executor: Executor, scope: RoleScope, id: string): Promise<Role> {
  const role = await findRoleIn(executor, scope, id);
  if (role.isBuiltIn) throw invalidRequest(`The role \`${role.name}\` is built in and cannot be changed.`);
  return role;
}

async function checkFreeName(
  executor: Executor,
  scope: RoleScope,
  name: string,
  ownId: string | undefined,
): Promise<void> {
  const key = toNameKey(name);
  const existing = await findRoleByName(executor, scopeIdOf(scope), key);
  const isTaken = existing !== undefined && existing.id !== ownId;
  if (!isTaken && !builtInOf(scope).some((role) => role.name === key)) return;
  throw new Fault("conflict", `A role with the name \`${name}\` exists already. Choose another name.`);
}

function checkPermissions(permissions: readonly string[], { projectId }: RoleScope): RolePermission[] {
  return [...new Set(permissions)].map((permission, index) => {
    const param = `permissions[${index}]`;
    if (!isRolePermission(permission)) {
      const name = permission.slice(0, 100);
      const message = `Invalid value for '${param}': there is no permission ${JSON.stringify(name)}. The role \`owner\` in GET /v1/organization/roles has all permissions.`;
      throw invalidRequest(message, param, "invalid_value");
    }
    if (projectId !== undefined && !Object.hasOwn(PROJECT_PERMISSIONS, permission)) {
      const message = `Invalid value for '${param}': \`${permission}\` applies to the organization, and a role of a project cannot have it.`;
      throw invalidRequest(message, param, "invalid_value");
    }
    return permission;
  });
}

function checkDescription(description: string | null): string | null {
  if (description === null || description.length <= MAX_DESCRIPTION_LENGTH) return description;
  const message = `'description' has ${description.length} characters; the maximum is ${MAX_DESCRIPTION_LENGTH}.`;
  throw invalidRequest(message, "description", "invalid_value");
}
