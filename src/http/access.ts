import type { Access } from "../contracts/caller.ts";
/** What a user may do, and the one decision about it. */

import { type ORGANIZATION_PERMISSIONS, PROJECT_PERMISSIONS, type RolePermission } from "../contracts/permissions.ts";
import type { Operation, Requirement } from "../wire/openapi/operation.ts";

/** Role of a user, where it applies and where it comes from. */
export interface Grant {
  roleId: string;
  roleName: string;
  permissions: readonly RolePermission[];
  /** Undefined: the organization. */
  projectId: string | undefined;
  source: { type: "user" | "group"; id: string; name: string };
}

/**
 * Decides whether `access` contains a permission, in a project if one is named. Undefined access is that of an admin
 * key without a user, which may do everything in its organization.
 */
export function allows(
  access: Access | undefined,
  permission: RolePermission,
  projectId: string | undefined = undefined,
): boolean {
  if (access === undefined || access.organization.includes(permission)) return true;
  if (projectId === undefined || !Object.hasOwn(PROJECT_PERMISSIONS, permission)) return false;
  return Object.hasOwn(access.projects, projectId) && access.projects[projectId]?.includes(permission) === true;
}

/** Returns a permission of `target` that `access` lacks; undefined: none. */
export function missingPermission(access: Access | undefined, target: Access): RolePermission | undefined {
  const missing = (permissions: readonly RolePermission[], projectId?: string) =>
    permissions.find((permission) => !allows(access, permission, projectId));
  return (
    missing(target.organization) ??
    Object.entries(target.projects)
      .map(([projectId, permissions]) => missing(permissions, projectId))
      .find((permission) => permission !== undefined)
  );
}

/** Permissions of which a user needs one; `signed-in`: none. Undefined or `no-user`: no user may call it. */
export function requirementOf({ permission, requires }: Pick<Operation, "permission" | "requires">) {
  return requires ?? (permission === "project" ? DEFAULT_REQUIREMENT : undefined);
}

const DEFAULT_REQUIREMENT: Requirement = "project.inference";

/** Part of a caller on which the decision depends. */
interface CallerAccess {
  kind: "project" | "admin";
  access?: Access | undefined;
  projectId: string | undefined;
  userId?: string | undefined;
  isRestricted?: true | undefined;
}

type Requirements = Pick<Operation, "permission" | "requires" | "requiresOfSelf">;

/**
 * Whether a caller acts as this user: signed in, or with a key of theirs. What everybody may do with their own account is
 * in no list of permissions, so a restricted key may not.
 */
export function isSelf({ userId, isRestricted }: Pick<CallerAccess, "userId" | "isRestricted">, user: string): boolean {
  return userId === user && isRestricted !== true;
}

/** Parameters of a path that name where and whom an operation is about. */
interface PathParameters {
  project?: string | undefined;
  user?: string | undefined;
}

/**
 * Decides whether a caller may call an operation, in the project of the path if it names one, else of the key. Denies by
 * default. Keys without a user are limited by their kind alone.
 */
export function mayCall(
  caller: CallerAccess,
  operation: Requirements | undefined,
  { project: pathProjectId, user }: PathParameters,
): boolean {
  const { kind, access, projectId } = caller;
  if (access === undefined) return true;
  if (kind === "project" && pathProjectId !== undefined && pathProjectId !== projectId) return false;
  const ofSelf = user !== undefined && isSelf(caller, user) ? operation?.requiresOfSelf : undefined;
  const requirement = operation && (ofSelf ?? requirementOf(operation));
  if (requirement === undefined || requirement === "no-user") return false;
  if (requirement === "signed-in") return true;
  return [requirement].flat().some((permission) => allows(access, permission, pathProjectId ?? projectId));
}

/** Permissions about what is one's own, each with that about what is everybody's. */
const FOR_EVERYBODY: Partial<Record<RolePermission, RolePermission>> = {
  "project.own_keys.write": "project.keys.write",
};

/** Whether a caller may call an operation only because it is about what is the caller's own, with no permission for more. */
export function isSelfService(
  { access, projectId }: Pick<CallerAccess, "access" | "projectId">,
  operation: Requirements | undefined,
  { project: pathProjectId }: Pick<PathParameters, "project">,
): boolean {
  if (access === undefined) return false;
  const requirement = operation && requirementOf(operation);
  const permissions = requirement === "signed-in" || requirement === "no-user" ? [] : [requirement ?? []].flat();
  return !permissions.some((each) => allows(access, FOR_EVERYBODY[each] ?? each, pathProjectId ?? projectId));
}

/** Projects in which `access` contains the permission; undefined: all of the organization. */
export function projectsWith(
  access: Access | undefined,
  permission: Exclude<RolePermission, keyof typeof ORGANIZATION_PERMISSIONS>,
): readonly string[] | undefined {
  if (allows(access, permission)) return undefined;
  return Object.keys(access?.projects ?? {}).filter((id) => allows(access, permission, id));
}

/** Returns the part of `access` that consists of these permissions. */
export function restrictAccess(access: Access, permissions: readonly RolePermission[]): Access {
  const isAllowed = (permission: RolePermission) => permissions.includes(permission);
  return {
    organization: access.organization.filter(isAllowed),
    projects: Object.fromEntries(
      Object.entries(access.projects).map(([id, ofProject]) => [id, ofProject.filter(isAllowed)]),
    ),
  };
}

/** Unites the permissions of roles. A role of a project never grants a permission in the organization. */
export function toAccess(grants: readonly Grant[]): Access {
  const organization = new Set<RolePermission>();
  const projects = new Map<string, Set<RolePermission>>();
  for (const { projectId, permissions } of grants) {
    const target = projectId === undefined ? organization : (projects.get(projectId) ?? new Set());
    for (const permission of permissions) {
      if (projectId === undefined || Object.hasOwn(PROJECT_PERMISSIONS, permission)) target.add(permission);
    }
    if (projectId !== undefined) projects.set(projectId, target);
  }
  return {
    organization: [...organization],
    projects: Object.fromEntries([...projects].map(([id, permissions]) => [id, [...permissions]])),
  };
}
