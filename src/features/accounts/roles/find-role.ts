/** Looks up roles, built in or custom, by ID or name. */

import type { RolePermission } from "../../../contracts/permissions.ts";
import { Fault } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import type { ShownRole } from "../../../wire/openai/organization/organization-roles.ts";
import { toNameKey } from "../groups/group-queries.ts";
import type { RoleRow } from "../people-rows.ts";
import { BUILT_IN_ROLES, type BuiltInRole, builtInRole } from "./built-in-roles.ts";
import { toPermissions } from "./find-access.ts";
import { findRole, findRoleByName, findRolesOf } from "./role-queries.ts";

/** Where roles belong: an organization, or one of its projects. */
export interface RoleScope {
  organizationId: string;
  projectId: string | undefined;
}

export interface Role extends ShownRole {
  permissions: readonly RolePermission[];
}

export function scopeIdOf({ organizationId, projectId }: RoleScope): string {
  return projectId ?? organizationId;
}

/** Finds a role of a scope by its ID or name. Throws a Fault when there is none. */
export async function findRoleIn(executor: Executor, scope: RoleScope, idOrName: string): Promise<Role> {
  const role = await findRoleOrNone(executor, scope, idOrName);
  if (role !== undefined) return role;
  const place = scope.projectId === undefined ? "The organization" : "The project";
  throw new Fault("not-found", `${place} has no role \`${idOrName.slice(0, 100)}\`.`);
}

/** Lists the roles of a scope: built-in ones first, then custom ones by age. */
export async function findAllRolesIn(executor: Executor, scope: RoleScope): Promise<Role[]> {
  const custom = await findRolesOf(executor, scopeIdOf(scope));
  return [...builtInOf(scope).map(fromBuiltIn), ...custom.map((row) => fromRow(row))];
}

export function fromRow(row: RoleRow): Role {
  const { id, name, description, createdAt, updatedAt, createdBy } = row;
  const isOfProject = row.scopeId !== row.organizationId;
  const permissions = toPermissions(row.permissions);
  return { id, name, description, permissions, isBuiltIn: false, isOfProject, createdAt, updatedAt, createdBy };
}

export function fromBuiltIn({ id, name, description, permissions, isOfProject }: BuiltInRole): Role {
  const common = { id, name, description, permissions, isOfProject };
  return { ...common, isBuiltIn: true, createdAt: null, updatedAt: null, createdBy: null };
}

/** Finds a role of a scope by its ID or name; undefined when there is none. */
export async function findRoleOrNone(
  executor: Executor,
  scope: RoleScope,
  idOrName: string,
): Promise<Role | undefined> {
  const builtIn = builtInRole(idOrName) ?? builtInOf(scope).find(({ name }) => name === toNameKey(idOrName));
  const isOfProject = scope.projectId !== undefined;
  if (builtIn !== undefined) return builtIn.isOfProject === isOfProject ? fromBuiltIn(builtIn) : undefined;
  const scopeId = scopeIdOf(scope);
  const row =
    (await findRole(executor, { organizationId: scope.organizationId, scopeId, id: idOrName })) ??
    (await findRoleByName(executor, scopeId, toNameKey(idOrName)));
  return row && fromRow(row);
}

export function builtInOf({ projectId }: RoleScope): BuiltInRole[] {
  return BUILT_IN_ROLES.filter(({ isOfProject }) => isOfProject === (projectId !== undefined));
}
